// The first page: all kinds as cards by group, and the keyboard shortcuts.

import { useSession } from '../session/session-context.js'
import { groupKinds } from './kind-groups.js'
import { listRoute } from './route.js'

const shortcuts: readonly (readonly [key: string, meaning: string])[] = [
  ['g', 'go to a kind'],
  ['/', 'search in the table'],
  ['↑ ↓ j k', 'move between rows'],
  ['Enter', 'open the row'],
  ['Esc', 'leave a field'],
  ['u', 'go to the button that undoes the last change'],
]

export function Home() {
  const session = useSession()
  return (
    <>
      <header class="page-head">
        <h1>Kinds</h1>
      </header>
      <p class="keys">
        {shortcuts.map(([key, meaning]) => (
          <span key={key}>
            <kbd>{key}</kbd> {meaning}
          </span>
        ))}
      </p>
      <div class="cards">
        {groupKinds(session.listable, '').map(([group, kinds]) => (
          <section class="card" key={group}>
            <h2>{group === '' ? 'core' : group}</h2>
            <ul>
              {kinds.map((resource) => (
                <li key={resource.resource}>
                  <a href={listRoute(resource)}>{resource.kind}</a>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </>
  )
}
