// Owners and dependents of an object as a tree.

import { useState } from 'preact/hooks'
import { useSession } from '../session/session-context.js'
import { ErrorPanel } from '../shell/error-panel.js'
import { useLoaded } from '../ui/hooks.js'
import { DependentsTree, FoundLink } from './dependents-tree.js'
import type { ObjectContext } from './object-context.js'
import { searchRelated } from './related-objects.js'

export function RelatedTab({ resource, object, namespace }: ObjectContext) {
  const session = useSession()
  const [round, setRound] = useState(0)
  const [progress, setProgress] = useState('')
  const { value: related, error } = useLoaded(
    (signal) => {
      const onProgress = (searched: number, kinds: number): void => setProgress(`searched ${searched} of ${kinds} kinds`)
      return searchRelated({ session, namespace, signal, onProgress })
    },
    [round],
  )
  const owners = object.metadata?.ownerReferences ?? []
  return (
    <>
      <div class="tools">
        <button type="button" onClick={() => setRound(round + 1)}>
          Search again
        </button>
        <p class="hint" role="status">
          {related && related.partial.length > 0 ? `not complete: ${related.partial.join(', ')}` : progress}
        </p>
      </div>
      {error !== undefined && <ErrorPanel error={error} title="The search failed" />}
      {related && (
        <>
          <section>
            <h2>Owners</h2>
            {owners.length === 0 && <p class="empty">No owner.</p>}
            <ul class="tree">
              {owners.map(({ uid = '', kind = '', name = '' }) => {
                const found = related.byUid.get(uid)
                return <li key={uid}>{found === undefined ? `${kind} ${name} (not found)` : <FoundLink {...found} />}</li>
              })}
            </ul>
          </section>
          <section>
            <h2>Dependents</h2>
            {related.dependents.has(object.metadata?.uid ?? '') ? (
              <DependentsTree resource={resource} object={object} related={related} />
            ) : (
              <p class="empty">No dependents.</p>
            )}
          </section>
        </>
      )}
    </>
  )
}
