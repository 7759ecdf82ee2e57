// The actions of an object's page: scale, restart, labels, delete. Only what the kind serves is offered; the server decides what the user may.

import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { DynamicObject, PropagationPolicy } from '@cluster-apiserver/client/browser.js'
import { openDialog } from '../dom/dialog.js'
import { button, element, replaceChildren } from '../dom/element.js'
import type { ObjectContext } from '../object/object-context.js'
import { dependentsTree, searchRelated } from '../object/related.js'
import { errorPanel } from '../shell/legacy.js'
import { listRoute } from '../shell/route.js'
import { editable, findConflicts, type Patch, patchBetween, pathText } from './object-changes.js'
import { sendDelete, sendPatch } from './send-change.js'

/** `current` returns the newest version of the object. */
export function showActions(host: HTMLElement, current: () => ObjectContext): void {
  const { resource, object } = current()
  const { verbs, subresources } = resource
  const hasTemplate = (object['spec'] as { readonly template?: unknown } | undefined)?.template !== undefined
  const canScale = subresources.some(({ name, verbs: allowed }) => name === 'scale' && allowed.includes('patch'))
  replaceChildren(
    host,
    canScale && verbs.includes('patch') && button('Scale', () => scale(current())),
    hasTemplate && resource.group === 'apps' && resource.resource !== 'replicasets' && button('Restart', () => restart(current())),
    verbs.includes('patch') && button('Labels', () => editLabels(current())),
    verbs.includes('delete') && button('Delete', () => remove(current()), { class: 'danger' }),
  )
}

const showError = (thrown: unknown): HTMLElement => errorPanel(thrown, 'The change was not made')

const titleOf = ({ resource, name }: ObjectContext): string => `${resource.kind} ${name}`

/** Refuses to overwrite what another writer set since the dialog was opened. */
async function change(context: ObjectContext, patch: Patch, done: string): Promise<void> {
  const { session, resource, namespace, name, object } = context
  const collection = session.client.collection<DynamicObject>(resource, namespace)
  const before = await collection.get(name)
  const [conflict] = findConflicts(patch, patchBetween(editable(object, resource), editable(before, resource)), new Map())
  if (conflict !== undefined)
    throw new Error(`${pathText(conflict.path)} ${conflict.reasons.join(', ').slice(0, 300)}. Close the dialog and open it again.`)
  await sendPatch({ collection, before, patch, done })
}

function scale(context: ObjectContext): void {
  const replicas = Number((context.object['spec'] as { readonly replicas?: number } | undefined)?.replicas ?? 1)
  const input = element('input', { type: 'number', id: 'replicas', min: 0, max: 100_000, value: replicas, required: true })
  openDialog({
    title: `Scale ${titleOf(context)}`,
    content: [element('div', { class: 'field' }, element('label', { for: 'replicas' }, 'Replicas'), input)],
    submit: 'Scale',
    showError,
    signal: context.signal,
    run: () => change(context, { spec: { replicas: input.valueAsNumber } }, `scaled to ${input.valueAsNumber}`),
  })
}

function restart(context: ObjectContext): void {
  openDialog({
    title: `Restart ${titleOf(context)}`,
    content: [element('p', {}, 'An annotation of the pod template changes, so all pods are replaced.')],
    submit: 'Restart',
    showError,
    signal: context.signal,
    run: async () => {
      const identity = identityOf(await context.session.client.served.identity())
      const annotations = { [identity.label('restartedAt', 'kubectl')]: new Date().toISOString() }
      await change(context, { spec: { template: { metadata: { annotations } } } }, 'restarts')
    },
  })
}

function editLabels(context: ObjectContext): void {
  const before = context.object.metadata?.labels ?? {}
  const text = Object.entries(before)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')
  const input = element('textarea', { id: 'labels', rows: 8, spellcheck: 'false' })
  input.value = text
  openDialog({
    title: `Labels of ${titleOf(context)}`,
    content: [element('div', { class: 'field' }, element('label', { for: 'labels' }, 'One label per line: name=value'), input)],
    submit: 'Save',
    showError,
    signal: context.signal,
    run: async () => {
      const after = readLabels(input.value)
      const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name))
      const labels = Object.fromEntries([
        ...removed.map((name) => [name, null] as const),
        ...Object.entries(after).filter(([name, value]) => before[name] !== value),
      ])
      if (Object.keys(labels).length > 0) await change(context, { metadata: { labels } }, 'labelled')
    },
  })
}

export function readLabels(text: string): { readonly [name: string]: string } {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const wrong = lines.find((line) => !/^[^\s=]+=\S*$/.test(line))
  if (wrong !== undefined) throw new Error(`${JSON.stringify(wrong.slice(0, 100))} is not name=value`)
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}

const policies: readonly (readonly [policy: PropagationPolicy, meaning: string])[] = [
  ['Background', 'Delete dependents after it (Background)'],
  ['Foreground', 'Delete dependents before it (Foreground)'],
  ['Orphan', 'Keep dependents (Orphan)'],
]

function remove(context: ObjectContext): void {
  const { session, resource, namespace, object, name } = context
  const dependents = element('div', { class: 'dependents' }, element('p', { class: 'hint' }, 'searching for dependents…'))
  const select = element('select', { id: 'policy' }, ...policies.map(([policy, meaning]) => element('option', { value: policy }, meaning)))
  const search = new AbortController()
  const dialog = openDialog({
    title: `Delete ${titleOf(context)}?`,
    content: [
      resource.resource === 'namespaces'
        ? element('p', { class: 'problem' }, `Everything in the namespace ${name} is deleted, too.`)
        : undefined,
      element('div', { class: 'field' }, element('label', { for: 'policy' }, 'Dependents'), select),
      dependents,
    ],
    submit: 'Delete',
    isDanger: true,
    showError,
    signal: context.signal,
    run: async () => {
      const collection = session.client.collection<DynamicObject>(resource, namespace)
      // The newest version, which the undo creates again. Another object of the same name is not deleted.
      const latest = await collection.get(name)
      if (latest.metadata?.uid !== object.metadata?.uid) throw new Error('The object was deleted and created again. Open its page again.')
      await sendDelete({ collection, object: latest, propagationPolicy: select.value as PropagationPolicy })
      location.hash = listRoute(resource, { namespace })
    },
  })
  dialog.addEventListener('close', () => search.abort())
  searchRelated({ session, namespace, signal: search.signal }).then(
    (related) => {
      const tree = dependentsTree(context, related)
      replaceChildren(
        dependents,
        element('p', { class: 'hint' }, tree === undefined ? 'No dependents.' : 'These would go along:'),
        tree,
        related.partial.length > 0 && element('p', { class: 'hint' }, `Not searched completely: ${related.partial.join(', ')}`),
      )
    },
    (thrown: unknown) => {
      if (!search.signal.aborted) replaceChildren(dependents, showError(thrown))
    },
  )
}
