// Subresources that are actions or connections: the body is of a kind of their own, or there is none.

import { ApiError, badRequest } from '../api/api-error.js'
import type { ApiObject } from '../api/object.js'
import { parseCreateOptions } from '../api/options/write-options.js'
import { maxOptionsBytes } from '../base/most-body-bytes.js'
import { decodeBody } from '../codec/decode-body.js'
import type { ExpectedType } from '../codec/decode-object.js'
import { allFormats, negotiateBody } from '../codec/negotiation.js'
import { perform } from '../verbs/act.js'
import { actions } from '../verbs/special/special.js'
import { auditSent } from './audited-bodies.js'
import type { Answered } from './pipeline.js'
import { readBody } from './read-body.js'
import { type Form, representAnswer, representDocument } from './represent.js'
import { send } from './respond.js'
import { serveConnection } from './serve-connection.js'
import { statusObject } from './status.js'
import { formOf, methodNotAllowed, type Target } from './target.js'

/** Whether a request is not one for the object itself. */
export const isSpecial = ({ call }: Target): boolean => call.subresource?.body !== undefined

export function serveSpecial(target: Target): Answered | Promise<Answered> {
  const to = target.call.subresource?.connection
  return to === undefined ? serveAction(target) : serveConnection(target, to)
}

async function serveAction(target: Target): Promise<Answered> {
  const { exchange, server, call } = target
  const { identity } = server.engine
  const action = call.subresource?.action
  const act = action && actions[action]
  const expected = bodyType(target)
  const { subresource } = call
  if (act === undefined || expected === undefined) throw notServedYet(target)
  const form = formOf(target)
  const options = parseCreateOptions(target.query, identity)
  const format = negotiateBody(exchange.request.headers['content-type'], { identity, formats: allFormats })
  const { object } = decodeBody(format, await readBody(exchange, maxOptionsBytes), expected)
  const body = subresource?.body?.defaults?.(object, call) ?? object
  if (exchange.audited) auditSent(exchange, expected, body)
  const answer = await perform(server.engine, call.with({ options }), { act, body, catalog: exchange.catalog })
  const represented =
    answer === undefined
      ? representDocument(form, statusObject({ status: 'Success', code: 201 }))
      : representAnswer(form, { type: { kind: expected.kind, apiVersion: expected.apiVersion }, schema: expected.schema, object: answer })
  send(exchange, { code: 201, ...represented })
  return true
}

/** What names its object itself, and not by the path: a Binding its pod. */
export async function servePostTo({ server, exchange, call }: Target, form: Form, object: ApiObject): Promise<Answered> {
  const kind = call.resource
  const { postsTo } = kind.definition
  const resource = exchange.catalog.find(kind.group, kind.version, postsTo?.resource ?? '')
  const subresource = resource?.subresources.get(postsTo?.subresource ?? '')
  const act = subresource?.action && actions[subresource.action]
  if (resource === undefined || act === undefined) throw methodNotAllowed()
  if (!object.metadata?.name) throw badRequest('Name parameter required.')
  const binding = call.with({ resource, subresource, name: object.metadata.name })
  await perform(server.engine, binding, { act, body: object, catalog: exchange.catalog })
  send(exchange, { code: 201, ...representDocument(form, statusObject({ status: 'Success', code: 201 })) })
  return true
}

const notServedYet = ({ call: { resource, subresource } }: Target): ApiError =>
  new ApiError({
    code: 501,
    reason: 'NotImplemented',
    message: `${resource.name}/${subresource?.name} is not answered by this server yet`,
    details: {},
  })

function bodyType({ call: { subresource } }: Target): ExpectedType | undefined {
  if (subresource?.body?.schema === undefined) return undefined
  const { kind, apiVersion } = subresource.type
  const group = apiVersion.slice(0, apiVersion.indexOf('/') + 1)
  return {
    kind,
    apiVersion,
    schema: subresource.body.schema,
    alsoVersions: subresource.body.alsoVersions?.map((version) => group + version) ?? [],
  }
}
