// The dialog that deletes an object: shows its dependents, and whether they are deleted or orphaned.

import type { DynamicObject, PropagationPolicy } from '@cluster-apiserver/client/browser.js'
import { useState } from 'preact/hooks'
import { DependentsTree } from '../object/dependents-tree.js'
import type { ObjectContext } from '../object/object-context.js'
import { searchRelated } from '../object/related-objects.js'
import { useSession } from '../session/session-context.js'
import { ErrorPanel } from '../shell/error-panel.js'
import { listRoute } from '../shell/route.js'
import { useLoaded } from '../ui/hooks.js'
import { Dialog } from './dialog.js'
import { sendDelete } from './send-change.js'

const policies: readonly (readonly [policy: PropagationPolicy, meaning: string])[] = [
  ['Background', 'Delete dependents after it (Background)'],
  ['Foreground', 'Delete dependents before it (Foreground)'],
  ['Orphan', 'Keep dependents (Orphan)'],
]

interface DeleteDialogProps {
  readonly context: ObjectContext
  readonly onClose: () => void
}

export function DeleteDialog({ context, onClose }: DeleteDialogProps) {
  const { resource, namespace, object, name } = context
  const session = useSession()
  const [propagationPolicy, setPolicy] = useState<PropagationPolicy>('Background')
  const { value: related, error } = useLoaded((signal) => searchRelated({ session, namespace, signal }), [])
  const hasDependents = related?.dependents.has(object.metadata?.uid ?? '')
  const remove = async (): Promise<void> => {
    const collection = session.client.collection<DynamicObject>(resource, namespace)
    // The newest version, which the undo creates again. Another object of the same name is not deleted.
    const latest = await collection.get(name)
    if (latest.metadata?.uid !== object.metadata?.uid) throw new Error('The object was deleted and created again. Open its page again.')
    await sendDelete({ collection, object: latest, propagationPolicy })
    location.hash = listRoute(resource, { namespace })
  }
  return (
    <Dialog title={`Delete ${resource.kind} ${name}?`} submit="Delete" isDanger onClose={onClose} run={remove}>
      {resource.resource === 'namespaces' && <p class="problem">Everything in the namespace {name} is deleted, too.</p>}
      <div class="field">
        <label for="policy">Dependents</label>
        <select id="policy" value={propagationPolicy} onChange={({ currentTarget }) => setPolicy(currentTarget.value as PropagationPolicy)}>
          {policies.map(([policy, meaning]) => (
            <option value={policy} key={policy}>
              {meaning}
            </option>
          ))}
        </select>
      </div>
      <div class="dependents">
        {error !== undefined && <ErrorPanel error={error} title="The dependents cannot be read" />}
        {error === undefined && (
          <p class="hint">
            {related === undefined ? 'searching for dependents…' : hasDependents ? 'These would go along:' : 'No dependents.'}
          </p>
        )}
        {related && <DependentsTree resource={resource} object={object} related={related} />}
        {related && related.partial.length > 0 && <p class="hint">Not searched completely: {related.partial.join(', ')}</p>}
      </div>
    </Dialog>
  )
}
