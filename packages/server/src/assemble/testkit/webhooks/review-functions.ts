// Functions that answer reviews, by kind of webhook, and the responses that their results stand for.

import { jsonPatch } from '@cluster-apiserver/api/patch/json-patch/json-patch.js'
import { isRecord } from '@cluster-apiserver/api/patch/json-value.js'
import { createJsonPatch, type PatchOperation } from './create-json-patch.js'
import type { WebhookKind } from './webhook-spec.js'

/** An object in a review. */
export interface ReviewedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name?: string
    readonly namespace?: string
    readonly labels?: { readonly [key: string]: string }
    readonly annotations?: { readonly [key: string]: string }
    readonly [field: string]: unknown
  }
  readonly [field: string]: unknown
}

export interface AdmissionReviewRequest<T = ReviewedObject> {
  readonly uid: string
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string }
  readonly subResource?: string
  readonly name?: string
  readonly namespace?: string
  readonly userInfo: { readonly username?: string; readonly uid?: string; readonly groups?: readonly string[] }
  /** Null for DELETE. */
  readonly object: T
  /** Null for CREATE. */
  readonly oldObject: T
  readonly dryRun: boolean
  readonly [field: string]: unknown
}

interface AdmissionReviewResponse {
  readonly allowed: boolean
  readonly status?: { readonly code?: number; readonly reason?: string; readonly message?: string }
  readonly warnings?: readonly string[]
  readonly auditAnnotations?: { readonly [key: string]: string }
  /** Operations of a JSON patch, or their JSON text in base64. */
  readonly patch?: readonly PatchOperation[] | string
}

interface ConversionReviewRequest {
  readonly uid: string
  readonly desiredAPIVersion: string
  readonly objects: readonly ReviewedObject[]
}

interface TokenReviewRequest {
  readonly token: string
  readonly audiences?: readonly string[]
}

interface ReviewedUser {
  readonly username: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: { readonly [key: string]: readonly string[] }
}

interface AccessReviewRequest {
  readonly user?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: { readonly [key: string]: readonly string[] }
  readonly resourceAttributes?: {
    readonly verb?: string
    readonly group?: string
    readonly version?: string
    readonly resource?: string
    readonly subresource?: string
    readonly namespace?: string
    readonly name?: string
  }
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string }
}

interface ImageReviewRequest {
  readonly containers?: readonly { readonly image?: string }[]
  readonly annotations?: { readonly [key: string]: string }
  readonly namespace?: string
}

type Result<T> = T | Promise<T>
/** `false` denies, and so does a text, which is the message. */
type Verdict = boolean | string

/** As methods, so that a function may declare a narrower type of the objects. */
interface ReviewMethods {
  validating(request: AdmissionReviewRequest): Result<Verdict | AdmissionReviewResponse>
  /** May also return the changed object, or the operations of a JSON patch. */
  mutating(request: AdmissionReviewRequest): Result<Verdict | AdmissionReviewResponse | object | readonly PatchOperation[]>
  conversion(object: ReviewedObject, desiredAPIVersion: string): Result<object>
  /** Returns the user or its name; undefined rejects the token. */
  token(request: TokenReviewRequest): Result<ReviewedUser | string | undefined>
  authorization(request: AccessReviewRequest): Result<'allow' | 'deny' | 'no opinion' | AccessReviewStatus>
  imagePolicy(request: ImageReviewRequest): Result<Verdict | ImageReviewStatus>
}

interface AccessReviewStatus {
  readonly allowed: boolean
  readonly denied?: boolean
  readonly reason?: string
}

interface ImageReviewStatus {
  readonly allowed: boolean
  readonly reason?: string
  readonly auditAnnotations?: { readonly [key: string]: string }
}

export type ReviewFunction<Kind extends WebhookKind = WebhookKind> = ReviewMethods[Kind]

/** The content of a review that a webhook of the kind receives: `request` of an AdmissionReview or ConversionReview, `spec` of another review. */
export type ReviewRequest<Kind extends WebhookKind = WebhookKind> = {
  readonly validating: AdmissionReviewRequest
  readonly mutating: AdmissionReviewRequest
  readonly conversion: ConversionReviewRequest
  readonly token: TokenReviewRequest
  readonly authorization: AccessReviewRequest
  readonly imagePolicy: ImageReviewRequest
}[Kind]

export interface ReviewResponse {
  readonly [field: string]: unknown
}

/** Members of a review document that contain the request and the response. */
export const membersOf = (kind: WebhookKind): { readonly request: string; readonly response: string } =>
  kind === 'validating' || kind === 'mutating' || kind === 'conversion'
    ? { request: 'request', response: 'response' }
    : { request: 'spec', response: 'status' }

type Respond = (call: never, request: never) => Promise<ReviewResponse>

/** Calls the function of a test and resolves with the response. Rejects if the function returns something else. */
export async function respondTo(kind: WebhookKind, call: ReviewFunction, request: ReviewRequest): Promise<ReviewResponse> {
  return await (responders[kind] as (call: ReviewFunction, request: ReviewRequest) => Promise<ReviewResponse>)(call, request)
}

const responders: { readonly [Kind in WebhookKind]: Respond } = {
  validating: async (call: ReviewFunction<'validating'>, request: AdmissionReviewRequest) =>
    admissionResponse(await call(structuredClone(request)), request, false),
  mutating: async (call: ReviewFunction<'mutating'>, request: AdmissionReviewRequest) =>
    admissionResponse(await call(structuredClone(request)), request, true),
  conversion: async (call: ReviewFunction<'conversion'>, { uid, desiredAPIVersion, objects }: ConversionReviewRequest) => {
    const convertedObjects: object[] = []
    for (const object of structuredClone(objects)) {
      const converted: unknown = await call(object, desiredAPIVersion)
      if (!isRecord(converted)) throw unexpected(converted, 'the converted object')
      convertedObjects.push(converted)
    }
    return { uid, convertedObjects, result: { status: 'Success' } }
  },
  token: async (call: ReviewFunction<'token'>, request: TokenReviewRequest) => {
    const user: unknown = await call(structuredClone(request))
    if (user === undefined || user === null) return { authenticated: false }
    if (typeof user === 'string') return { authenticated: true, user: { username: user } }
    if (isRecord(user) && typeof user['username'] === 'string') return { authenticated: true, user }
    throw unexpected(user, 'a user with username, the name of a user, or undefined')
  },
  authorization: async (call: ReviewFunction<'authorization'>, request: AccessReviewRequest) => {
    const verdict: unknown = await call(structuredClone(request))
    const status = typeof verdict === 'string' ? accessVerdicts.get(verdict) : verdict
    if (isRecord(status) && typeof status['allowed'] === 'boolean') return status
    throw unexpected(verdict, "'allow', 'deny', 'no opinion', or a status with allowed")
  },
  imagePolicy: async (call: ReviewFunction<'imagePolicy'>, request: ImageReviewRequest) => {
    const verdict: unknown = await call(structuredClone(request))
    if (typeof verdict === 'boolean') return { allowed: verdict }
    if (typeof verdict === 'string') return { allowed: false, reason: verdict }
    if (isRecord(verdict) && typeof verdict['allowed'] === 'boolean') return verdict
    throw unexpected(verdict, 'true, false, the reason of the denial, or a status with allowed')
  },
}

const accessVerdicts: ReadonlyMap<string, ReviewResponse> = new Map([
  ['allow', { allowed: true }],
  ['deny', { allowed: false, denied: true }],
  ['no opinion', { allowed: false }],
])

function admissionResponse(result: unknown, { uid, object }: AdmissionReviewRequest, mayPatch: boolean): ReviewResponse {
  if (typeof result === 'boolean') return { uid, allowed: result }
  if (typeof result === 'string') return { uid, allowed: false, status: { message: result } }
  if (isRecord(result) && typeof result['allowed'] === 'boolean' && result['kind'] === undefined) {
    const { patch, ...response } = result
    return { uid, ...response, allowed: result['allowed'], ...patchFields(patch) }
  }
  if (mayPatch && Array.isArray(result)) return { uid, allowed: true, ...patchFields(result) }
  if (mayPatch && isRecord(result) && result['kind'] !== undefined)
    return { uid, allowed: true, ...patchFields(createJsonPatch(object, JSON.parse(JSON.stringify(result)))) }
  const orPatch = mayPatch ? ', the changed object, a JSON patch' : ''
  throw unexpected(result, `true, false, the message of the denial${orPatch}, or a response with allowed`)
}

function patchFields(patch: unknown): object {
  if (patch === undefined || (Array.isArray(patch) && patch.length === 0)) return {}
  const text = typeof patch === 'string' ? patch : Buffer.from(JSON.stringify(patch)).toString('base64')
  return { patchType: 'JSONPatch', patch: text }
}

const unexpected = (result: unknown, expected: string): TypeError => {
  const shown = result === undefined ? 'undefined' : (JSON.stringify(result) ?? String(result)).slice(0, 100)
  return new TypeError(`the function of the webhook returned ${shown}; return ${expected}`)
}

/** The response without its uid, and the object after the patch instead of the patch: patches with the same result are the same. */
export function effectOf(request: ReviewRequest, response: ReviewResponse | undefined): unknown {
  if (response === undefined) return undefined
  const { uid: _uid, patch, patchType: _patchType, ...effect } = response
  const { object } = request as Partial<AdmissionReviewRequest>
  if (typeof patch !== 'string') return { ...effect, object }
  try {
    return { ...effect, object: jsonPatch(object as never, JSON.parse(Buffer.from(patch, 'base64').toString())) }
  } catch {
    // A patch that cannot be applied is compared as text.
    return { ...effect, object, patch }
  }
}
