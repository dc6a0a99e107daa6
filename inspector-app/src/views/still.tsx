import { Component, type ComponentChildren } from 'preact'

interface Props {
  /** What it is drawn from. While all of it is the same, nothing is drawn again. */
  readonly of: readonly unknown[]
  readonly draw: () => ComponentChildren
}

/** For what is large and seldom changes. What is inside must not read the view itself. */
export class Still extends Component<Props> {
  override shouldComponentUpdate({ of }: Props): boolean {
    return of.length !== this.props.of.length || of.some((each, index) => each !== this.props.of[index])
  }

  override render() {
    return this.props.draw()
  }
}
