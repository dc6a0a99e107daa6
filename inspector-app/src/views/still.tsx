import { Component, type ComponentChildren } from 'preact'

interface Props {
  /** The inputs of the drawing. Redraws only if one of them changes. */
  readonly of: readonly unknown[]
  readonly draw: () => ComponentChildren
}

/** For large parts that seldom change. The content must not read the view itself. */
export class Still extends Component<Props> {
  override shouldComponentUpdate({ of }: Props): boolean {
    return of.length !== this.props.of.length || of.some((each, index) => each !== this.props.of[index])
  }

  override render() {
    return this.props.draw()
  }
}
