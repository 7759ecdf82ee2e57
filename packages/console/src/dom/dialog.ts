// A modal dialog with a form: Escape and Cancel close it, the submit button runs the action.

import { button, element, replaceChildren } from './element.js'

interface DialogSettings {
  readonly title: string
  readonly content: readonly (HTMLElement | undefined)[]
  readonly submit: string
  readonly isDanger?: boolean
  /** Closes the dialog when it resolves; its error is shown. */
  run(): Promise<void>
  readonly showError: (thrown: unknown) => HTMLElement
  /** Closes the dialog when the page changes, such as by the back button. */
  readonly signal: AbortSignal
}

export function openDialog({ title, content, submit, isDanger = false, run, showError, signal }: DialogSettings): HTMLDialogElement {
  const problem = element('div')
  const confirm = button(submit, () => undefined, { class: isDanger ? 'danger' : 'primary' })
  confirm.type = 'submit'
  const dialog = element(
    'dialog',
    { 'aria-labelledby': 'dialog-title', on: { close: () => dialog.remove() } },
    element(
      'form',
      {
        on: {
          submit: (event) => {
            event.preventDefault()
            confirm.disabled = true
            run().then(
              () => dialog.close(),
              (thrown: unknown) => {
                confirm.disabled = false
                replaceChildren(problem, showError(thrown))
              },
            )
          },
        },
      },
      element('h2', { id: 'dialog-title' }, title),
      ...content,
      problem,
      element(
        'div',
        { class: 'dialog-buttons' },
        button('Cancel', () => dialog.close()),
        confirm,
      ),
    ),
  )
  signal.addEventListener('abort', () => dialog.close(), { once: true })
  document.body.append(dialog)
  dialog.showModal()
  return dialog
}
