// Pruning of `apply --prune`: deletes objects that the field manager applied before and that are in no file anymore, of the kinds in
// the files and in --prune-allowlist.

import type { Collection } from '@cluster-apiserver/client/collection.js'
import type { ServedResource } from '@cluster-apiserver/client/discovery.js'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { apiVersionOf } from '@cluster-apiserver/client/requests/resource-ref.js'
import type { CommandContext } from '../command-line/command.js'
import { CommandError } from '../command-line/errors.js'
import type { Session } from '../command-line/session.js'
import type { Deletion } from './delete-object.js'
import { fullNameOf, type ManifestObject, type NamedObject } from './named-object.js'
import { waitUntilDeleted } from './wait-until.js'
import type { DryRun } from './write-results.js'

interface PruneOptions {
  readonly objects: readonly ManifestObject[]
  readonly manager: string
  readonly selector: string | undefined
  readonly allowed: readonly string[]
  readonly dryRun: DryRun
  readonly deletion: Deletion
  readonly wait: boolean
}

export async function prune(
  { dryRun, deletion, wait, ...pruning }: PruneOptions,
  { session, io, signal }: Pick<CommandContext, 'session' | 'io' | 'signal'>,
): Promise<void> {
  const terminating: (NamedObject & { readonly uid: string })[] = []
  for await (const target of prunable(pruning, session)) {
    const { resource, collection, name, uid } = target
    if (dryRun !== 'client') await collection.delete(name, { ...deletion.options, dryRun: dryRun === 'server', preconditions: { uid } })
    io.out(`${fullNameOf(resource, name)} pruned${dryRun === 'none' ? '' : ` (${dryRun === 'server' ? 'server ' : ''}dry run)`}\n`)
    if (wait && dryRun === 'none') terminating.push(target)
  }
  for (const { uid, ...target } of terminating) await waitUntilDeleted(target, { uid, deadline: deletion.deadline, signal, io })
}

export async function* prunable(
  { objects, manager, selector, allowed }: Omit<PruneOptions, 'dryRun' | 'deletion' | 'wait'>,
  session: Session,
): AsyncGenerator<NamedObject & { readonly uid: string }, void, undefined> {
  const resources = new Map<string, ServedResource>()
  const add = (resource: ServedResource): void => void resources.set(`${resource.resource}.${resource.group}`, resource)
  for (const { resource } of objects) add(resource)
  for (const text of allowed) {
    const [group, version, kind, ...extraParts] = text.split('/')
    if (group === undefined || version === undefined || kind === undefined || extraParts.length > 0)
      throw new CommandError(`invalid GroupVersionKind format: ${text}, please follow <group/version/kind>`)
    add(await session.resources.ofKind(apiVersionOf(group === 'core' ? '' : group, version), kind))
  }
  // Namespaced objects are pruned only in the namespaces of objects in the files.
  const namespaces = new Set(objects.flatMap(({ collection }) => collection.namespace ?? []))
  const keysInFiles = new Set(objects.map(({ resource, collection, name }) => keyOf(resource, collection.namespace, name)))
  for (const resource of resources.values()) {
    for (const namespace of resource.namespaced ? namespaces : [undefined]) {
      const collection: Collection<DynamicObject> = session.client.collection(resource, namespace)
      for await (const { metadata } of collection.metadata.items(selector === undefined ? {} : { labelSelector: selector })) {
        const name = metadata?.name ?? ''
        const isApplied = metadata?.managedFields?.some((entry) => entry.manager === manager && entry.operation === 'Apply') === true
        if (!isApplied || keysInFiles.has(keyOf(resource, namespace, name))) continue
        yield { resource, collection, name, uid: metadata?.uid ?? '' }
      }
    }
  }
}

const keyOf = ({ resource, group }: ServedResource, namespace: string | undefined, name: string): string =>
  `${resource}.${group}/${namespace ?? ''}/${name}`
