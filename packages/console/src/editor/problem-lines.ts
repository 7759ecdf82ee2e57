// Shows the message of each diagnostic below its line.

import { setDiagnosticsEffect } from '@codemirror/lint'
import { StateField } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view'

export interface Problem {
  /** From 0. */
  readonly line: number
  readonly message: string
}

class ProblemWidget extends WidgetType {
  readonly message: string

  constructor(message: string) {
    super()
    this.message = message
  }

  override eq({ message }: ProblemWidget): boolean {
    return message === this.message
  }

  override toDOM(): HTMLElement {
    const shown = document.createElement('div')
    shown.className = 'editor-problem'
    shown.setAttribute('role', 'alert')
    shown.textContent = this.message
    return shown
  }
}

export const problemLines = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (shown, { effects, changes, newDoc }) => {
    const found = effects.find((effect) => effect.is(setDiagnosticsEffect))
    if (found === undefined) return shown.map(changes)
    const widgets = found.value.map(({ from, message }) =>
      Decoration.widget({ widget: new ProblemWidget(message), block: true, side: 1 }).range(newDoc.lineAt(from).to),
    )
    return Decoration.set(widgets, true)
  },
  provide: (field) => EditorView.decorations.from(field),
})
