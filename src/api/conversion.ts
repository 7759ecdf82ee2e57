// Conversion between the versions of a kind that somebody else knows, such as a webhook: many objects at a time, and not at once. Kinds
// whose versions are converted by functions of their own (see definition) need nothing of this, and never wait.

import { getOrInsert } from '../base/get-or-insert.js'
import { onceFor } from '../base/once-for.js'
import { ApiError } from './api-error.js'
import type { ApiObject } from './object.js'

/** From one apiVersion of a kind to another. */
export interface ConversionVersions {
  readonly from: string
  readonly to: string
}

/** One object for each, in the same order; neither has `kind` and `apiVersion`. */
export type BatchConversion = (objects: readonly ApiObject[], versions: ConversionVersions) => Promise<readonly ApiObject[]>

/** The conversion of a kind, as clients of one version need it. */
export interface Conversion {
  /** The version that they see; of a subresource that shows another kind, that of the object behind it. */
  readonly version: string
  /** Rejects with an ApiError that says what could not be converted, and why. */
  readonly convert: BatchConversion
}

/** What a call of the converter takes at most; longer lists are several calls. */
export const mostConvertedObjects = 500
export const mostConvertedBytes = 4 << 20

/** The same function for all versions of a kind: it stands for the conversion that something was made by. */
export const checkedConversion = (kind: string, convert: BatchConversion): BatchConversion =>
  getOrInsert(checkedByKind(convert), kind, () => check(kind, convert))

const checkedByKind = onceFor((_convert: BatchConversion) => new Map<string, BatchConversion>())

function check(kind: string, convert: BatchConversion): BatchConversion {
  return async (objects, versions) => {
    const converted = await convert(objects, versions).catch((thrown: unknown) => Promise.reject(failed(kind, versions, thrown)))
    if (converted.length !== objects.length)
      throw failed(kind, versions, `${objects.length} objects were sent and ${converted.length} came back`)
    for (const [i, { metadata }] of converted.entries()) {
      const sent = objects[i]?.metadata
      if (metadata?.name !== sent?.name || metadata?.namespace !== sent?.namespace || metadata?.uid !== sent?.uid)
        throw failed(kind, versions, `${sent?.name} came back with another name, namespace or uid`)
    }
    return converted
  }
}

function failed(kind: string, { from, to }: ConversionVersions, why: unknown): ApiError {
  if (why instanceof ApiError) return why
  const text = `conversion of ${kind} from ${from} to ${to} failed: ${why instanceof Error ? why.message : String(why)}`
  return new ApiError(
    { code: 500, reason: 'InternalError', message: `Internal error occurred: ${text}`, details: { causes: [{ message: text }] } },
    { cause: why },
  )
}
