// The actions of an object's page: scale, restart, labels, delete. Only what the kind serves is offered; the server decides what the user may.

import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { DynamicObject, ServedResource } from '@cluster-apiserver/client/browser.js'
import type { FunctionComponent } from 'preact'
import { useState } from 'preact/hooks'
import type { ObjectContext } from '../object/object-context.js'
import type { Session } from '../session/session.js'
import { useSession } from '../session/session-context.js'
import { DeleteDialog } from './delete-dialog.js'
import { Dialog } from './dialog.js'
import { editable, findConflicts, type Patch, patchBetween, pathText } from './object-changes.js'
import { sendPatch } from './send-change.js'

interface ActionProps {
  /** As it was when the dialog was opened. */
  readonly context: ObjectContext
  readonly onClose: () => void
}

interface Action {
  readonly title: string
  readonly isDanger?: boolean
  readonly isOffered: (resource: ServedResource, object: DynamicObject) => boolean
  readonly Form: FunctionComponent<ActionProps>
}

const canPatch = ({ verbs }: ServedResource): boolean => verbs.includes('patch')
const specOf = (object: DynamicObject) => object['spec'] as { readonly template?: unknown; readonly replicas?: number } | undefined

const actions: readonly Action[] = [
  {
    title: 'Scale',
    isOffered: (resource) =>
      canPatch(resource) && resource.subresources.some(({ name, verbs }) => name === 'scale' && verbs.includes('patch')),
    Form: ScaleDialog,
  },
  {
    title: 'Restart',
    isOffered: (resource, object) =>
      specOf(object)?.template !== undefined && resource.group === 'apps' && resource.resource !== 'replicasets',
    Form: RestartDialog,
  },
  { title: 'Labels', isOffered: canPatch, Form: LabelsDialog },
  { title: 'Delete', isDanger: true, isOffered: ({ verbs }) => verbs.includes('delete'), Form: DeleteDialog },
]

export function ObjectActions(context: ObjectContext) {
  const [open, setOpen] = useState<{ readonly action: Action; readonly context: ObjectContext }>()
  return (
    <div class="actions">
      {actions
        .filter(({ isOffered }) => isOffered(context.resource, context.object))
        .map((action) => (
          <button type="button" key={action.title} class={action.isDanger ? 'danger' : ''} onClick={() => setOpen({ action, context })}>
            {action.title}
          </button>
        ))}
      {open && <open.action.Form context={open.context} onClose={() => setOpen(undefined)} />}
    </div>
  )
}

const titleOf = ({ resource, name }: ObjectContext): string => `${resource.kind} ${name}`

interface Change {
  readonly patch: Patch
  /** Such as `scaled`. */
  readonly done: string
}

/** Refuses to overwrite what another writer set since the dialog was opened. */
async function change(session: Session, { resource, namespace, name, object }: ObjectContext, { patch, done }: Change): Promise<void> {
  const collection = session.client.collection<DynamicObject>(resource, namespace)
  const before = await collection.get(name)
  const [conflict] = findConflicts(patch, patchBetween(editable(object, resource), editable(before, resource)), new Map())
  if (conflict !== undefined)
    throw new Error(`${pathText(conflict.path)} ${conflict.reasons.join(', ').slice(0, 300)}. Close the dialog and open it again.`)
  await sendPatch({ collection, before, patch, done })
}

function ScaleDialog({ context, onClose }: ActionProps) {
  const session = useSession()
  const [replicas, setReplicas] = useState(Number(specOf(context.object)?.replicas ?? 1))
  return (
    <Dialog
      title={`Scale ${titleOf(context)}`}
      submit="Scale"
      onClose={onClose}
      run={() => change(session, context, { patch: { spec: { replicas } }, done: `scaled to ${replicas}` })}
    >
      <div class="field">
        <label for="replicas">Replicas</label>
        <input
          type="number"
          id="replicas"
          min={0}
          max={100_000}
          required
          value={replicas}
          onInput={({ currentTarget }) => setReplicas(currentTarget.valueAsNumber)}
        />
      </div>
    </Dialog>
  )
}

function RestartDialog({ context, onClose }: ActionProps) {
  const session = useSession()
  const restart = async (): Promise<void> => {
    const identity = identityOf(await session.client.served.identity())
    const annotations = { [identity.label('restartedAt', 'kubectl')]: new Date().toISOString() }
    await change(session, context, { patch: { spec: { template: { metadata: { annotations } } } }, done: 'restarts' })
  }
  return (
    <Dialog title={`Restart ${titleOf(context)}`} submit="Restart" onClose={onClose} run={restart}>
      <p>An annotation of the pod template changes, so all pods are replaced.</p>
    </Dialog>
  )
}

function LabelsDialog({ context, onClose }: ActionProps) {
  const session = useSession()
  const before = context.object.metadata?.labels ?? {}
  const [text, setText] = useState(() =>
    Object.entries(before)
      .map(([name, value]) => `${name}=${value}`)
      .join('\n'),
  )
  const save = async (): Promise<void> => {
    const after = readLabels(text)
    const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name))
    const labels = Object.fromEntries([
      ...removed.map((name) => [name, null] as const),
      ...Object.entries(after).filter(([name, value]) => before[name] !== value),
    ])
    if (Object.keys(labels).length > 0) await change(session, context, { patch: { metadata: { labels } }, done: 'labelled' })
  }
  return (
    <Dialog title={`Labels of ${titleOf(context)}`} submit="Save" onClose={onClose} run={save}>
      <div class="field">
        <label for="labels">One label per line: name=value</label>
        <textarea id="labels" rows={8} spellcheck={false} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
      </div>
    </Dialog>
  )
}

function readLabels(text: string): { readonly [name: string]: string } {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const wrong = lines.find((line) => !/^[^\s=]+=\S*$/.test(line))
  if (wrong !== undefined) throw new Error(`${JSON.stringify(wrong.slice(0, 100))} is not name=value`)
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}
