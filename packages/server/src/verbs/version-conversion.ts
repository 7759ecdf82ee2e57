// Conversion between the client's API version, which patches and managedFields see, and the storage version, which validation and admission
// see except for custom resources. A step that lacks a conversion by a webhook throws UnconvertedError, and runs again with the reply.

import { invalid } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ConversionVersions } from '@cluster-apiserver/api/api/definition/conversion-webhook.js'
import type { SubresourceView } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import { type ApiObject, withMetadata } from '@cluster-apiserver/api/api/object.js'
import { readValue } from '@cluster-apiserver/api/schema/json/read.js'
import { writeAny } from '@cluster-apiserver/api/schema/json/write.js'
import { convertAhead } from '../objects/entry/convert-ahead.js'
import type { StoredObject } from '../objects/entry/stored-object.js'
import type { WrittenObject } from './engine.js'

export function toStored(call: Call, object: ApiObject): ApiObject {
  const { conversion, storedApiVersion, toStored: convert } = call.resource
  if (validatesRequestVersion(call)) return object
  if (conversion !== undefined) return convertedObject(call, object, { from: conversion.version, to: storedApiVersion })
  return convert?.(object) ?? object
}

const validatesRequestVersion = ({ resource: { definition } }: Call): boolean => definition.validatesRequestVersion === true

/** The validated object in the storage version. */
export function asStored(call: Call, object: ApiObject): ApiObject {
  if (!validatesRequestVersion(call)) return object
  const { conversion, storedApiVersion, storedSchema, toStored: convert } = call.resource
  if (conversion === undefined) return convert?.(object) ?? object
  const { version } = conversion
  if (version === storedApiVersion) return object
  return readValue(storedSchema, convertedObject(call, object, { from: version, to: storedApiVersion })).value as ApiObject
}

/** A stored object in the version in which admission and validation see the new one. */
export const asValidated = (call: Call, live: ApiObject): ApiObject => (validatesRequestVersion(call) ? fromStored(call, live) : live)

/** Runs a step that may need a webhook; without one, at once. */
export const converting = <T>(call: Call, step: () => T): T | Promise<T> =>
  call.resource.conversion === undefined ? step() : runWithConversions(call, step)

export const fromStored = (call: Call, object: ApiObject): ApiObject => toEndpointVersion(call, call.resource, object)

/** A stored object in the version of an endpoint, or as the kind of a subresource such as Scale. */
export function toEndpointVersion(
  call: Call,
  { conversion, storedApiVersion, fromStored: convert }: Resource,
  object: ApiObject,
): ApiObject {
  const converted = conversion === undefined ? object : convertedObject(call, object, { from: storedApiVersion, to: conversion.version })
  return convert?.(converted) ?? converted
}

export const withDefaults = (call: Call, object: ApiObject): ApiObject => call.resource.defaults?.(object, call) ?? object

/** Converts an entry that was written in another version, so that it can be decoded. */
export const prepareDecode = (stored: StoredObject, resource: Resource): Promise<void> =>
  convertAhead([stored], resource, resource.storedApiVersion)

/** Converts a result to the version of the response. */
export async function prepareResponse(written: WrittenObject, resource: Resource): Promise<WrittenObject> {
  if (resource.conversion === undefined) return written
  const { version, convert } = resource.conversion
  if (written.stored !== undefined) await convertAhead([written.stored], resource)
  if (written.stored !== undefined || version === resource.storedApiVersion) return written
  const [object = {}] = await convert([written.object], { from: resource.storedApiVersion, to: version })
  return { object }
}

/** A step needs a conversion that the webhook has not returned yet. */
export class UnconvertedError extends Error {
  override readonly name = 'UnconvertedError'
  readonly object: ApiObject
  readonly versions: ConversionVersions
  readonly key: string
  constructor(object: ApiObject, versions: ConversionVersions, key: string) {
    super(`an object was not converted from ${versions.from} to ${versions.to}`)
    this.object = object
    this.versions = versions
    this.key = key
  }
}

const conversionsByCall = new WeakMap<Call, Map<string, ApiObject>>()

/** The object in another version, from the webhook's earlier reply. Throws UnconvertedError if there is none. */
export function convertedObject(call: Call, object: ApiObject, versions: ConversionVersions): ApiObject {
  if (versions.from === versions.to) return object
  const { kind: _kind, apiVersion: _apiVersion, ...fields } = object
  const key = `${versions.from} ${versions.to} ${writeAny(fields)}`
  const found = conversionsByCall.get(call)?.get(key)
  if (found === undefined) throw new UnconvertedError(fields, versions, key)
  return found
}

/** Conversions that the webhook has returned for a call: sent to the worker thread with the step. */
export const conversionsOf = (call: Call): Iterable<readonly [key: string, object: ApiObject]> => conversionsByCall.get(call) ?? []

export function withConversions(call: Call, known: readonly (readonly [key: string, object: ApiObject])[]): Call {
  if (known.length > 0) conversionsByCall.set(call, new Map(known))
  return call
}

/** Bound for one step: old and new object in the client's version, the storage version and those of all field managers. */
const maxConversions = 100

/** Runs a pure step again for each conversion that it lacks. */
export async function runWithConversions<T>(call: Call, step: () => T | Promise<T>): Promise<T> {
  const { conversion } = call.resource
  if (conversion === undefined) return step()
  const known = conversionsByCall.get(call) ?? new Map<string, ApiObject>()
  conversionsByCall.set(call, known)
  for (let left = maxConversions; ; left--) {
    try {
      return await step()
    } catch (thrown) {
      if (!(thrown instanceof UnconvertedError) || left === 0) throw thrown
      const [object = {}] = await call.waitFor(conversion.convert([thrown.object], thrown.versions))
      known.set(thrown.key, object)
    }
  }
}

/** Writes a view, such as Scale, into its object. resourceVersion and uid of the view are preconditions. */
export function writeView(call: Call, view: SubresourceView, input: { readonly sent: ApiObject; readonly live: ApiObject }): ApiObject {
  const { sent, live } = input
  const errors = view.validate?.(sent, call) ?? []
  if (errors.length > 0) throw invalid({ group: call.identity.group(view.group), kind: view.kind }, call.name, errors)
  const written = view.write(sent, fromStored(call, live), call)
  return withMetadata(written, { resourceVersion: sent.metadata?.resourceVersion, uid: sent.metadata?.uid })
}

/** The object that admission sees: the object itself, or its view for a subresource such as /scale. */
export async function viewOf(call: Call, object: ApiObject): Promise<ApiObject> {
  const { subresource } = call
  if (subresource?.view === undefined) return object
  if (validatesRequestVersion(call)) return subresource.view.read(object)
  return runWithConversions(call, () => toEndpointVersion(call, subresource.shown, object))
}

/** Writes a view that admission has mutated back into the object. */
export async function withView(call: Call, object: ApiObject, shown: ApiObject): Promise<ApiObject> {
  const view = call.subresource?.view
  if (view === undefined) return shown
  const { metadata = {} } = object
  const current = (): ApiObject => (validatesRequestVersion(call) ? object : fromStored(call, object))
  return runWithConversions(call, () => withMetadata(toStored(call, view.write(shown, current(), call)), metadata))
}
