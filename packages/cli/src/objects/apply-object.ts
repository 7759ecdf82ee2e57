// Server-side apply of one object, with conflict messages that name fields, managers and remedies.

import type { Collection } from '@cluster-apiserver/client/collection.js'
import type { ServedResource } from '@cluster-apiserver/client/discovery.js'
import { StatusError } from '@cluster-apiserver/client/errors.js'
import { type FieldOwner, listManagedFields } from '@cluster-apiserver/client/objects/field-managers.js'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import type { ApplyOptions } from '@cluster-apiserver/client/requests/request-options.js'
import { CommandError } from '../command-line/errors.js'
import { fullNameOf, type ManifestObject } from './named-object.js'

/** Forces the apply if all conflicts are with creates, patches or edits of the same manager, separate entries in managedFields. */
export async function applyObject({ collection, object, resource, name }: ManifestObject, options: ApplyOptions): Promise<DynamicObject> {
  if (name === '') throw new CommandError('apply requires metadata.name')
  const apply = (force: boolean): Promise<DynamicObject> =>
    (collection as Collection<DynamicObject>).apply(withoutServerFields(object), { ...options, force })
  try {
    return await apply(options.force ?? false)
  } catch (thrown) {
    if (!(thrown instanceof StatusError) || !thrown.causes.some(({ reason }) => reason === 'FieldManagerConflict')) throw thrown
    if (thrown.causes.every(({ message = '' }) => managerOf(message) === options.fieldManager)) return apply(true)
    throw new CommandError(await explainConflict(thrown, { resource, name, collection }))
  }
}

function withoutServerFields(object: DynamicObject): DynamicObject {
  const { managedFields: _, resourceVersion: _1, uid: _2, creationTimestamp: _3, generation: _4, ...metadata } = object.metadata ?? {}
  return { ...object, metadata }
}

interface ConflictTarget {
  readonly resource: ServedResource
  readonly name: string
  readonly collection: Collection<DynamicObject>
}

async function explainConflict({ causes }: StatusError, { resource, name, collection }: ConflictTarget): Promise<string> {
  const object = await collection.find(name)
  const fields = object === undefined ? [] : listManagedFields(object)
  const lines = causes.map(({ field = '', message = '' }) => {
    const manager = managerOf(message)
    const owner =
      fields.find(({ path }) => path === field)?.owners.find((candidate) => candidate.manager === manager) ?? ownerOf(fields, manager)
    const since = owner === undefined || owner.since === '' ? '' : ` since ${owner.since}`
    const operationText = owner === undefined ? '' : ` (${owner.operation}${owner.subresource === '' ? '' : ` of ${owner.subresource}`})`
    return `  ${field} is owned by "${manager}"${operationText}${since}`
  })
  return [
    `Apply failed with ${causes.length} conflict${causes.length === 1 ? '' : 's'}: ${fullNameOf(resource, name)} has fields of other managers:`,
    ...lines,
    '  Remove them from the file to leave them to the other manager, set the same values to share them,',
    '  or use --force-conflicts to take them over. "clusterctl blame" shows the managers of all fields.',
  ].join('\n')
}

const managerOf = (message: string): string => /"((?:\\.|[^"])*)"/.exec(message)?.[1] ?? message

const ownerOf = (fields: ReturnType<typeof listManagedFields>, manager: string): FieldOwner | undefined =>
  fields.flatMap(({ owners }) => owners).find((owner) => owner.manager === manager)
