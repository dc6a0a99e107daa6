const gap = 15

/** Gives each line's label a position: as near to the end of the line as possible without overlap. */
export function spacedLabels(lines, top, bottom) {
  const labels = lines.map((line) => ({ ...line, at: line.points.at(-1)[1] })).sort((a, b) => a.at - b.at)
  // push down, then up again if the panel's end is passed
  for (let index = 1; index < labels.length; index++) {
    labels[index].at = Math.max(labels[index].at, labels[index - 1].at + gap)
  }
  let limit = bottom
  for (const label of labels.toReversed()) {
    label.at = Math.min(label.at, limit)
    limit = label.at - gap
  }
  for (const label of labels) label.at = Math.max(label.at, top)
  return labels
}
