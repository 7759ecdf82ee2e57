// managedFields after a create, update or patch that is not an apply; and the API versions that managedFields may name.

import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { withMetadata } from '@cluster-apiserver/api/api/object.js'
import { resetFieldSet, trackUpdate } from '@cluster-apiserver/api/patch/managed-fields/track-update.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { convertedObject, fromStored } from './version-conversion.js'

const maxManagerLength = 128

/** The fieldManager option, or else the program name in the User-Agent header. */
export function managerOf({ options, caller: { userAgent } }: Call): string {
  if (options.fieldManager !== undefined) return options.fieldManager
  const known = managers.get(userAgent)
  if (known !== undefined) return known
  const program = userAgent.split('/', 1)[0] ?? ''
  const manager = (/^[ -~]*$/.test(program) ? program : program.replace(/\p{C}/gu, '')).slice(0, maxManagerLength)
  if (managers.size >= maxManagers) managers.clear()
  if (userAgent.length <= maxManagerLength) managers.set(userAgent, manager)
  return manager
}

/** Cache of field managers by User-Agent header, of which few different values are sent, each often. */
const managers = new Map<string, string>()
const maxManagers = 256

export const trackCreate = (call: Call, object: ApiObject): ApiObject => trackManagedFields(call, { live: undefined, next: object })

export function trackManagedFields(call: Call, input: { readonly live: ApiObject | undefined; readonly next: ApiObject }): ApiObject {
  const live = input.live === undefined ? undefined : fromStored(call, input.live)
  const { schema, apiVersion, schemaFor, convert } = kindVersions(call)
  // No spread: it costs ten times as much, and every write comes here.
  const managedFields = trackUpdate({
    live,
    next: readBack(call, input.next),
    liveManagedFields: input.live?.metadata?.managedFields,
    sentManagedFields: input.next.metadata?.managedFields,
    manager: managerOf(call),
    schema,
    apiVersion,
    schemaFor,
    convert,
    subresource: call.subresource?.name ?? '',
    time: timeOf(call.now),
    reset: resetFieldsOf(call),
  })
  return withMetadata(input.next, { managedFields })
}

/** The object as its version shows it once stored: the conversion of HorizontalPodAutoscalers adds annotations. */
function readBack({ resource }: Call, object: ApiObject): ApiObject {
  const { toStored, fromStored: convert, definition } = resource
  if (toStored === undefined || definition.custom !== undefined) return object
  const stored = toStored(object)
  return convert?.(stored) ?? stored
}

export function trackActionBody(call: Call, body: ApiObject): ApiObject {
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

const versionsByResource = new WeakMap<Resource, KindVersions>()

/** The API versions in which field managers may have written; built once per kind. */
export function kindVersions(call: Call): KindVersions {
  const { resource } = call
  let versions = versionsByResource.get(resource)
  if (versions === undefined) {
    versions = describeVersions(resource)
    versionsByResource.set(resource, versions)
  }
  return resource.conversion === undefined ? versions : { ...versions, convert: converterFor(call) }
}

const converterFor =
  (call: Call): KindVersions['convert'] =>
  (object, to, from) =>
    call.resource.versions.has(from) && call.resource.versions.has(to)
      ? convertedObject(call, object as ApiObject, { from, to })
      : undefined

type KindVersions = ReturnType<typeof describeVersions>

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

export function resetFieldsOf(call: Call): ReturnType<typeof resetFieldSet> {
  const paths = call.subresource === undefined ? call.resource.definition.resetFields : call.subresource.resetFields
  return paths === undefined ? undefined : resetFieldSet(paths)
}
