// Short messages at the bottom of the page, with an action such as undo for a limited time.

import { useSubscription } from '../ui/hooks.js'

interface NoticeAction {
  readonly label: string
  run(): void
}

interface Notice {
  readonly id: number
  readonly text: string
  readonly action: NoticeAction | undefined
}

const shortMs = 6000
/** Changes can be undone for this long. */
const undoMs = 60_000
const maxNotices = 5

let shown: readonly Notice[] = []
let lastId = 0
const listeners = new Set<() => void>()

export function showNotice(text: string, action?: NoticeAction): void {
  const id = ++lastId
  replace([...shown, { id, text, action }].slice(-maxNotices))
  setTimeout(() => dismiss(id), action === undefined ? shortMs : undoMs)
}

/** Removes all notices, whose actions belong to a session that ended. */
export const clearNotices = (): void => replace([])

const dismiss = (id: number): void => replace(shown.filter((notice) => notice.id !== id))

function replace(notices: readonly Notice[]): void {
  shown = notices
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Moves the focus to the first button of the newest message, such as Undo. */
export const focusNotice = (): void => document.querySelector<HTMLElement>('.notice:last-child button')?.focus()

export function Notices() {
  useSubscription(subscribe, [])
  return (
    <div class="notices" role="status" aria-live="polite">
      {shown.map(({ id, text, action }) => (
        <div class="notice" key={id}>
          <span>{text}</span>
          {action && (
            <button
              type="button"
              onClick={() => {
                dismiss(id)
                action.run()
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  )
}
