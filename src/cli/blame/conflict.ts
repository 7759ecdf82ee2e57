// A conflict of owners, told so that one can act upon it: which fields, whose they are since when, and what can be done.

import type { Collection } from '../../client/collection.js'
import type { ServedResource } from '../../client/discovery.js'
import type { StatusError } from '../../client/errors.js'
import type { DynamicObject } from '../../client/objects.js'
import { fullNameOf } from '../targets.js'
import { type Owner, ownedFields } from './owners.js'

export interface ConflictPlace {
  readonly resource: ServedResource
  readonly name: string
  readonly collection: Collection<DynamicObject>
}

export async function explainConflict({ causes }: StatusError, { resource, name, collection }: ConflictPlace): Promise<string> {
  const object = await collection.find(name)
  const fields = object === undefined ? [] : ownedFields(object)
  const lines = causes.map(({ field = '', message = '' }) => {
    const manager = managerOf(message)
    const owner = fields.find((one) => one.path === field)?.owners.find((one) => one.manager === manager) ?? ownerOf(fields, manager)
    const since = owner === undefined || owner.since === '' ? '' : ` since ${owner.since}`
    const way = owner === undefined ? '' : ` (${owner.operation}${owner.subresource === '' ? '' : ` of ${owner.subresource}`})`
    return `  ${field} is owned by "${manager}"${way}${since}`
  })
  return [
    `Apply failed with ${causes.length} conflict${causes.length === 1 ? '' : 's'}: ${fullNameOf(resource, name)} has fields that belong to somebody else:`,
    ...lines,
    '  Leave them out of the file to let the others have them, give them the same values to share them,',
    '  or take them over with --force-conflicts. "clusterctl blame" shows who owns the rest.',
  ].join('\n')
}

/** A conflict names the other in quotes. */
export const managerOf = (message: string): string => /"((?:\\.|[^"])*)"/.exec(message)?.[1] ?? message

const ownerOf = (fields: ReturnType<typeof ownedFields>, manager: string): Owner | undefined =>
  fields.flatMap(({ owners }) => owners).find((one) => one.manager === manager)
