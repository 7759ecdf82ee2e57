// The navigation: all kinds by group, with a filter.

import type { ServedResource } from '@cluster-apiserver/client/browser.js'
import type { RefObject } from 'preact'
import { useState } from 'preact/hooks'
import { useSession } from '../session/session-context.js'
import { groupKinds } from './kind-groups.js'
import { listRoute } from './route.js'

interface KindListProps {
  readonly current: ServedResource | undefined
  readonly namespace: string
  readonly filterRef: RefObject<HTMLInputElement | null>
}

export function KindList({ current, namespace, filterRef }: KindListProps) {
  const session = useSession()
  const [filter, setFilter] = useState('')
  const groups = groupKinds(session.listable, filter)
  const routeOf = (resource: ServedResource): string => listRoute(resource, { namespace: resource.namespaced ? namespace : '' })
  const openFirst = (): void => {
    const first = groups[0]?.[1][0]
    if (first !== undefined) location.hash = routeOf(first)
  }
  return (
    <nav class="kinds" id="kinds" aria-label="Kinds">
      <input
        ref={filterRef}
        type="search"
        id="kind-filter"
        placeholder="Kinds  g"
        aria-label="Search in the kinds"
        value={filter}
        onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        onKeyDown={({ key }) => key === 'Enter' && openFirst()}
      />
      {groups.map(([group, kinds]) => (
        <section key={group}>
          <h2>{group === '' ? 'core' : group}</h2>
          <ul>
            {kinds.map((resource) => (
              <li key={resource.resource}>
                <a
                  href={routeOf(resource)}
                  aria-current={current?.group === resource.group && current.resource === resource.resource ? 'page' : undefined}
                >
                  {resource.kind}
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {groups.length === 0 && <p class="empty">No kind matches.</p>}
    </nav>
  )
}
