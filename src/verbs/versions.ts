// Between the version in which a client speaks and the one in which objects are stored. Rules and admission see the stored form;
// patches and the bookkeeping of owned fields see the client's.
//
// Where somebody else converts (api/conversion), what works on versions stays as it is: it is run, the conversion that it stumbles over is
// asked for, and it is run again with the answer at hand. Kinds that convert by functions of their own pay nothing for that.

import { invalid } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import type { Resource } from '../api/catalog.js'
import type { ConversionVersions } from '../api/conversion.js'
import type { ApiObject } from '../api/object.js'
import type { Promised } from '../base/promised.js'
import { convertAhead } from '../objects/convert-ahead.js'
import type { StoredObject } from '../objects/stored-object.js'
import { writeAny } from '../schema/write.js'
import type { WrittenObject } from './engine.js'

export function toStored(call: Call, object: ApiObject): ApiObject {
  const { conversion, storedApiVersion, toStored: convert } = call.resource
  if (conversion !== undefined) {
    if (conversion.version !== storedApiVersion) checkSent(call, object)
    return convertFor(call, object, { from: conversion.version, to: storedApiVersion })
  }
  return convert?.(object) ?? object
}

/** What a client gets wrong it is told in the words of its own version, before anybody is asked to convert it. */
function checkSent(call: Call, object: ApiObject): void {
  const { definition, invalidSubject } = call.resource
  const errors = definition.validateSent?.(object, call, call.subresource?.name ?? '') ?? []
  if (errors.length > 0) throw invalid(invalidSubject, object.metadata?.name ?? '', errors)
}

export const fromStored = (call: Call, object: ApiObject): ApiObject => shownAs(call, call.resource, object)

/** A stored object as clients of an endpoint see it: in their version, or as the kind that a subresource shows. */
export function shownAs(call: Call, { conversion, storedApiVersion, fromStored: convert }: Resource, object: ApiObject): ApiObject {
  const own = conversion === undefined ? object : convertFor(call, object, { from: storedApiVersion, to: conversion.version })
  return convert?.(own) ?? own
}

/** Fills in what a client left out, by the rules of its version. */
export const withDefaults = (call: Call, object: ApiObject): ApiObject => call.resource.defaults?.(object, call) ?? object

/** Makes an object ready to be decoded, in whichever version it was written; undefined where nothing has to be waited for. */
export const readyToDecode = (stored: StoredObject, resource: Resource): Promise<void> | undefined =>
  convertAhead([stored], resource, resource.storedApiVersion)

/** The same for an object that was read or written, in the version in which it will be shown. What was not stored is converted here. */
export function readyToShow(written: WrittenObject, resource: Resource): Promised<WrittenObject> {
  if (resource.conversion === undefined) return written
  if (written.stored !== undefined) return convertAhead([written.stored], resource)?.then(() => written) ?? written
  const { version, convert } = resource.conversion
  if (version === resource.storedApiVersion) return written
  return convert([written.object], { from: resource.storedApiVersion, to: version }).then(([object = {}]) => ({ object }))
}

/** A step needs a conversion that the webhook was not asked for yet. */
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

const answers = new WeakMap<Call, Map<string, ApiObject>>()

/** The object in another version, as the converter answered before. */
export function convertFor(call: Call, object: ApiObject, versions: ConversionVersions): ApiObject {
  if (versions.from === versions.to) return object
  const { kind: _kind, apiVersion: _apiVersion, ...own } = object
  const key = `${versions.from} ${versions.to} ${writeAny(own)}`
  const found = answers.get(call)?.get(key)
  if (found === undefined) throw new UnconvertedError(own, versions, key)
  return found
}

/** The conversions that the webhook returned for a call so far: a worker thread gets them with its step. */
export const conversionsOf = (call: Call): Iterable<readonly [key: string, object: ApiObject]> => answers.get(call) ?? []

export function withConversions(call: Call, known: readonly (readonly [key: string, object: ApiObject])[]): Call {
  if (known.length > 0) answers.set(call, new Map(known))
  return call
}

/** An object and its successor, in the client's version, in the stored one and in those of all owners of fields. */
const mostConversions = 100

/** Runs a step that needs conversions, again for each one that is missing. The step is pure. */
export const converting = <T>(call: Call, act: () => Promised<T>): Promised<T> =>
  call.resource.conversion === undefined ? act() : convertAndAct(call, act)

async function convertAndAct<T>(call: Call, act: () => Promised<T>): Promise<T> {
  const known = new Map<string, ApiObject>()
  answers.set(call, known)
  for (let left = mostConversions; ; left--) {
    try {
      return await act()
    } catch (thrown) {
      if (!(thrown instanceof UnconvertedError) || call.resource.conversion === undefined || left === 0) throw thrown
      const [object = {}] = await call.waitFor(call.resource.conversion.convert([thrown.object], thrown.versions))
      known.set(thrown.key, object)
    }
  }
}
