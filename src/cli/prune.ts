// Deletes what was applied before and is in no file any more: objects of the same kinds and namespaces, with the labels that were named, of which
// this manager has applied something.

import type { Collection } from '../client/collection.js'
import type { ServedResource } from '../client/discovery.js'
import type { DynamicObject } from '../client/objects.js'
import { apiVersionOf } from '../client/resource-ref.js'
import type { Work } from './command.js'
import type { Deletion } from './deletion.js'
import { Failure } from './failure.js'
import type { DryRun } from './results.js'
import type { Session } from './session.js'
import { type Filed, fullNameOf, type Named } from './targets.js'
import { waitUntilGone } from './until.js'

export interface Pruning {
  readonly filed: readonly Filed[]
  readonly manager: string
  readonly selector: string | undefined
  /** Further kinds. */
  readonly allowed: readonly string[]
  readonly dryRun: DryRun
  readonly deletion: Deletion
  /** Until they are gone. */
  readonly wait: boolean
}

export async function prune(
  { dryRun, deletion, wait, ...pruning }: Pruning,
  { session, io, signal }: Pick<Work, 'session' | 'io' | 'signal'>,
): Promise<void> {
  const going: (Named & { readonly uid: string })[] = []
  for await (const one of prunable(pruning, session)) {
    const { resource, collection, name, uid } = one
    if (dryRun !== 'client') await collection.delete(name, { ...deletion.options, dryRun: dryRun === 'server', preconditions: { uid } })
    io.out(`${fullNameOf(resource, name)} pruned${dryRun === 'none' ? '' : ` (${dryRun === 'server' ? 'server ' : ''}dry run)`}\n`)
    if (wait && dryRun === 'none') going.push(one)
  }
  for (const { uid, ...named } of going) await waitUntilGone(named, { uid, deadline: deletion.deadline, signal, io })
}

/** What was applied before by the same manager, has the labels, and is in no file. */
export async function* prunable(
  { filed, manager, selector, allowed }: Omit<Pruning, 'dryRun' | 'deletion' | 'wait'>,
  session: Session,
): AsyncGenerator<Named & { readonly uid: string }, void, undefined> {
  const resources = new Map<string, ServedResource>()
  const add = (resource: ServedResource): void => void resources.set(`${resource.resource}.${resource.group}`, resource)
  for (const { resource } of filed) add(resource)
  for (const text of allowed) {
    const [group, version, kind, ...more] = text.split('/')
    if (group === undefined || version === undefined || kind === undefined || more.length > 0)
      throw new Failure(`invalid GroupVersionKind format: ${text}, please follow <group/version/kind>`)
    add(await session.resources.ofKind(apiVersionOf(group === 'core' ? '' : group, version), kind))
  }
  // What has no namespace in its file is placed in the current one already; where no file has an object, nothing is deleted.
  const namespaces = new Set(filed.flatMap(({ collection }) => collection.namespace ?? []))
  const kept = new Set(filed.map(({ resource, collection, name }) => placeOf(resource, collection.namespace, name)))
  for (const resource of resources.values()) {
    for (const namespace of resource.namespaced ? namespaces : [undefined]) {
      const collection: Collection<DynamicObject> = session.client.collection(resource, namespace)
      for await (const { metadata } of collection.metadata.items(selector === undefined ? {} : { labelSelector: selector })) {
        const name = metadata?.name ?? ''
        const isOurs = metadata?.managedFields?.some((entry) => entry.manager === manager && entry.operation === 'Apply') === true
        if (!isOurs || kept.has(placeOf(resource, namespace, name))) continue
        yield { resource, collection, name, uid: metadata?.uid ?? '' }
      }
    }
  }
}

const placeOf = ({ resource, group }: ServedResource, namespace: string | undefined, name: string): string =>
  `${resource}.${group}/${namespace ?? ''}/${name}`
