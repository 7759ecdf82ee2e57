// The objects of a request in the version in which a hook or a policy sees them: converted once, however many of them look.

import type { Call } from '../../api/call.js'
import type { ApiObject } from '../../api/object.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { onceFor } from '../../base/once-for.js'
import { type Promised, whenThere } from '../../base/promised.js'
import { writeAny, writeValue } from '../../schema/write.js'
import type { AdmissionRequest } from '../admission.js'
import type { SeenAs } from './seen-as.js'

interface Seen {
  object?: Promised<ApiObject>
  text?: string
}

/** By object and how it is seen, as long as the request lasts: stored objects live longer, and would hold it all. */
const seen = onceFor((_call: Call) => new Map<ApiObject, Map<SeenAs, Seen>>())

const seenOf = (call: Call, object: ApiObject, as: SeenAs): Seen =>
  getOrInsert(
    getOrInsert(seen(call), object, () => new Map()),
    as,
    () => ({}),
  )

/** An object or old object of the request, with `kind` and `apiVersion`. Synchronous unless somebody else converts. */
export function seenObject({ call }: Pick<AdmissionRequest, 'call'>, object: ApiObject, as: SeenAs): Promised<ApiObject> {
  const found = seenOf(call, object, as)
  if (found.object !== undefined) return found.object
  const { kind, apiVersion } = as
  const converted = whenThere(fromStored(object, as), (own): ApiObject => ({ ...own, kind, apiVersion }))
  if (!(converted instanceof Promise)) {
    found.object = converted
    return converted
  }
  found.object = call.waitFor(converted).then(
    (own) => {
      found.object = own
      return own
    },
    (thrown: unknown) => {
      delete found.object
      throw thrown
    },
  )
  return found.object
}

/** The same as JSON, as a client of that version would be answered. */
export function seenText(request: Pick<AdmissionRequest, 'call'>, object: ApiObject, as: SeenAs): Promised<string> {
  const found = seenOf(request.call, object, as)
  if (found.text !== undefined) return found.text
  return whenThere(seenObject(request, object, as), (own) => {
    found.text ??= as.schema === undefined ? writeAny(own) : writeValue(as.schema, own)
    return found.text
  })
}

function fromStored(object: ApiObject, { isStored, resource }: SeenAs): Promised<ApiObject> {
  if (!isStored) return object
  const { conversion, storedApiVersion, fromStored: convert } = resource
  if (conversion === undefined || conversion.version === storedApiVersion) return convert?.(object) ?? object
  return conversion.convert([object], { from: storedApiVersion, to: conversion.version }).then(([own = {}]) => own)
}

/** What a hook made of an object that it saw, as admission goes on with it: in the stored version, without `kind` and `apiVersion`. */
export function storedObject(
  { call }: Pick<AdmissionRequest, 'call'>,
  object: ApiObject,
  { isStored, resource }: SeenAs,
): Promised<ApiObject> {
  const { kind: _kind, apiVersion: _apiVersion, ...own } = object
  if (!isStored) return own
  const { conversion, storedApiVersion, toStored: convert } = resource
  if (conversion === undefined || conversion.version === storedApiVersion) return convert?.(own) ?? own
  return call.waitFor(conversion.convert([own], { from: conversion.version, to: storedApiVersion }).then(([stored = {}]) => stored))
}
