// Short messages at the bottom of the page, with an action such as undo for a limited time.

import { button, element } from '../dom/element.js'

interface NoticeAction {
  readonly label: string
  run(): void
}

const shortMs = 6000
/** Changes can be undone for this long. */
export const undoMs = 60_000
const maxNotices = 5

let host: HTMLElement | undefined

export function showNotice(text: string, action?: NoticeAction): void {
  if (host?.isConnected !== true) {
    host = element('div', { class: 'notices', role: 'status', 'aria-live': 'polite' })
    document.body.append(host)
  }
  const notice = element('div', { class: 'notice' }, element('span', {}, text))
  if (action !== undefined)
    notice.append(
      button(action.label, () => {
        notice.remove()
        action.run()
      }),
    )
  notice.append(button('×', () => notice.remove(), { 'aria-label': 'Dismiss' }))
  host.append(notice)
  while (host.children.length > maxNotices) host.firstElementChild?.remove()
  setTimeout(() => notice.remove(), action === undefined ? shortMs : undoMs)
}

/** Removes all notices, whose actions belong to a session that ended. */
export const clearNotices = (): void => host?.remove()
