// A modal dialog with a form: Escape and Cancel close it, the submit button runs the action.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { ErrorPanel } from '../shell/error-panel.js'

interface DialogProps {
  readonly title: string
  readonly submit: string
  readonly isDanger?: boolean
  /** Closes the dialog when it resolves; its error is shown. */
  readonly run: () => Promise<void>
  readonly onClose: () => void
  readonly children: ComponentChildren
}

export function Dialog({ title, submit, isDanger = false, run, onClose, children }: DialogProps) {
  const titleId = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const [isRunning, setIsRunning] = useState(false)
  const [error, setError] = useState<unknown>()
  useEffect(() => dialog.current?.showModal(), [])
  const send = (): void => {
    setIsRunning(true)
    run().then(onClose, (thrown: unknown) => {
      setIsRunning(false)
      setError(thrown)
    })
  }
  return (
    <dialog ref={dialog} aria-labelledby={titleId} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <h2 id={titleId}>{title}</h2>
        {children}
        {error !== undefined && <ErrorPanel error={error} title="The change was not made" />}
        <div class="dialog-buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class={isDanger ? 'danger' : 'primary'} disabled={isRunning}>
            {submit}
          </button>
        </div>
      </form>
    </dialog>
  )
}
