// Conversion of custom resources between versions by webhook, in batches. Checks that the webhook returns as many objects as it
// received, with unchanged names, namespaces and uids.

import { errorMessage } from '../../base/error-message.js'
import { getOrInsert, weakMemoize } from '../../base/recent-map.js'
import { ApiError } from '../api-error.js'
import type { ApiObject } from '../object.js'

export interface ConversionVersions {
  readonly from: string
  readonly to: string
}

/** Returns the objects in the same order. Input and output have neither `kind` nor `apiVersion`. */
export type BatchConversion = (objects: readonly ApiObject[], versions: ConversionVersions) => Promise<readonly ApiObject[]>

export interface Conversion {
  /** apiVersion of the requested version. */
  readonly version: string
  /** Rejects with an ApiError. */
  readonly convert: BatchConversion
}

/** Maximum objects per ConversionReview. */
export const maxConvertedObjects = 500
export const maxConvertedBytes = 4 << 20

/** Returns the same function for the same converter and kind: callers compare functions to detect a changed conversion. */
export const checkedConversion = (kind: string, convert: BatchConversion): BatchConversion =>
  getOrInsert(checkedByKind(convert), kind, () => withReplyCheck(kind, convert))

const checkedByKind = weakMemoize((_convert: BatchConversion) => new Map<string, BatchConversion>())

function withReplyCheck(kind: string, convert: BatchConversion): BatchConversion {
  return async (objects, versions) => {
    const converted = await convert(objects, versions).catch((thrown: unknown) => Promise.reject(conversionError(kind, versions, thrown)))
    if (converted.length !== objects.length)
      throw conversionError(kind, versions, `the webhook returned ${converted.length} objects for ${objects.length}`)
    for (const [i, { metadata }] of converted.entries()) {
      const sent = objects[i]?.metadata
      if (metadata?.name !== sent?.name || metadata?.namespace !== sent?.namespace || metadata?.uid !== sent?.uid)
        throw conversionError(kind, versions, `the webhook changed name, namespace or uid of ${sent?.name}`)
    }
    return converted
  }
}

function conversionError(kind: string, { from, to }: ConversionVersions, cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause
  const text = `conversion of ${kind} from ${from} to ${to} failed: ${errorMessage(cause)}`
  return new ApiError(
    { code: 500, reason: 'InternalError', message: `Internal error occurred: ${text}`, details: { causes: [{ message: text }] } },
    { cause },
  )
}
