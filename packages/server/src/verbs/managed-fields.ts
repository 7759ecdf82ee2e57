// Who owns which field after a write that is not an apply.

import type { Call } from '../api/call.js'
import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { withMetadata } from '../api/object.js'
import { resetFieldSet, trackUpdate } from '../patch/track-update.js'
import { timeOf } from '../schema/scalars.js'
import { convertFor, fromStored } from './versions.js'

const maxManagerLength = 128

/** The manager a client named, or else the program in its user agent. */
export function managerOf({ options, caller: { userAgent } }: Call): string {
  if (options.fieldManager !== undefined) return options.fieldManager
  const known = managers.get(userAgent)
  if (known !== undefined) return known
  const program = userAgent.split('/', 1)[0] ?? ''
  // What cannot be printed has no place in a name.
  const manager = (/^[ -~]*$/.test(program) ? program : program.replace(/\p{C}/gu, '')).slice(0, maxManagerLength)
  if (managers.size >= mostManagers) managers.clear()
  if (userAgent.length <= maxManagerLength) managers.set(userAgent, manager)
  return manager
}

/** By user agent: clients are few, and write often. */
const managers = new Map<string, string>()
const mostManagers = 256

export const trackCreate = (call: Call, object: ApiObject): ApiObject => track(call, { live: undefined, next: object })

export function track(call: Call, input: { readonly live: ApiObject | undefined; readonly next: ApiObject }): ApiObject {
  const live = input.live === undefined ? undefined : fromStored(call, input.live)
  const { schema, apiVersion, schemaFor, convert } = kindVersions(call)
  // Written out, for this is made in every write, and a spread costs ten times as much.
  const managedFields = trackUpdate({
    live,
    next: input.next,
    liveManagedFields: input.live?.metadata?.managedFields,
    sentManagedFields: input.next.metadata?.managedFields,
    manager: managerOf(call),
    schema,
    apiVersion,
    schemaFor,
    convert,
    subresource: call.subresource?.name ?? '',
    time: timeOf(call.now),
    reset: resetOf(call),
  })
  return withMetadata(input.next, { managedFields })
}

/** Who sent which fields of a wish to a subresource that is a kind of its own. */
export function trackBody(call: Call, body: ApiObject): ApiObject {
  const { subresource } = call
  if (subresource?.body?.schema === undefined) return body
  const { apiVersion } = subresource.type
  const { schema } = subresource.body
  const managedFields = trackUpdate({
    live: undefined,
    next: body,
    liveManagedFields: undefined,
    sentManagedFields: body.metadata?.managedFields,
    manager: managerOf(call),
    schema,
    apiVersion,
    schemaFor: (version) => (version === apiVersion ? schema : undefined),
    convert: (object) => object,
    subresource: subresource.name,
    time: timeOf(call.now),
  })
  return withMetadata(body, { managedFields })
}

const known = new WeakMap<Resource, KindVersionsOf>()

/** The versions in which owners of fields may have written; made once for a kind. */
export function kindVersions(call: Call): KindVersionsOf {
  const { resource } = call
  let versions = known.get(resource)
  if (versions === undefined) {
    versions = describeVersions(resource)
    known.set(resource, versions)
  }
  return resource.conversion === undefined ? versions : { ...versions, convert: converterFor(call) }
}

/** Where somebody else converts. */
const converterFor =
  (call: Call): KindVersionsOf['convert'] =>
  (object, to, from) =>
    call.resource.versions.has(from) && call.resource.versions.has(to) ? convertFor(call, object as ApiObject, { from, to }) : undefined

type KindVersionsOf = ReturnType<typeof describeVersions>

function describeVersions(resource: Resource) {
  return {
    schema: resource.schema,
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    schemaFor: (apiVersion: string) => resource.versions.get(apiVersion)?.schema,
    convert: (object: object, to: string, from: string) => {
      const [source, target] = [resource.versions.get(from), resource.versions.get(to)]
      if (source === undefined || target === undefined) return undefined
      const stored = source.toStored?.(object as ApiObject) ?? (object as ApiObject)
      return target.fromStored?.(stored) ?? stored
    },
  }
}

/** The fields that this endpoint does not write. */
export function resetOf(call: Call): ReturnType<typeof resetFieldSet> {
  const paths = call.subresource === undefined ? call.resource.definition.resetFields : call.subresource.resetFields
  return paths === undefined ? undefined : resetFieldSet(paths)
}
