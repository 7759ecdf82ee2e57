// The first page: all kinds as cards by group, and the keyboard shortcuts.

import { element, replaceChildren } from '../dom/element.js'
import type { Session } from '../session/session.js'
import { groupKinds } from './kind-list.js'
import { listRoute } from './route.js'

const shortcuts: readonly (readonly [key: string, meaning: string])[] = [
  ['g', 'go to a kind'],
  ['/', 'search in the table'],
  ['↑ ↓ j k', 'move between rows'],
  ['Enter', 'open the row'],
  ['Esc', 'leave a field'],
]

export function showHome(host: HTMLElement, session: Session): void {
  const groups = groupKinds(session.listable, '')
  replaceChildren(
    host,
    element('header', { class: 'page-head' }, element('h1', {}, 'Kinds')),
    element('p', { class: 'keys' }, ...shortcuts.flatMap(([key, meaning]) => [element('kbd', {}, key), ` ${meaning}  `])),
    element(
      'div',
      { class: 'cards' },
      ...groups.map(([group, kinds]) =>
        element(
          'section',
          { class: 'card' },
          element('h2', {}, group === '' ? 'core' : group),
          element('ul', {}, ...kinds.map((resource) => element('li', {}, element('a', { href: listRoute(resource) }, resource.kind)))),
        ),
      ),
    ),
  )
}
