// Subresources that are actions (binding, eviction, token request) or connections (log, exec, proxy).

import { ApiError, badRequest } from '@cluster-apiserver/api/api/api-error.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { parseCreateOptions } from '@cluster-apiserver/api/api/options/write-options.js'
import { maxOptionsBytes } from '@cluster-apiserver/api/base/size-limits.js'
import { allFormats, negotiateBody } from '@cluster-apiserver/api/codec/content-negotiation.js'
import { decodeBody, type ExpectedType } from '@cluster-apiserver/api/codec/decode-object.js'
import { performAction } from '../../verbs/virtual/virtual-requests.js'
import { actions } from '../../verbs/virtual/virtual-resources.js'
import type { Handled } from '../pipeline/filter.js'
import { serveConnection } from '../proxy/connect-subresources.js'
import { auditRequestBody } from '../responses/audited-bodies.js'
import { type ResponseFormat, representActionResult, representDocument } from '../responses/representation.js'
import { send } from '../responses/send-response.js'
import { statusObject } from '../responses/status.js'
import { readBody } from './read-body.js'
import { methodNotAllowed, negotiateFormat, type Target } from './target.js'

export async function serveActionOrConnection(target: Target): Promise<Handled> {
  const to = target.call.subresource?.connection
  return to === undefined ? serveAction(target) : serveConnection(target, to)
}

async function serveAction(target: Target): Promise<Handled> {
  const { exchange, server, call } = target
  const { identity } = server.engine
  const action = call.subresource?.action
  const perform = action && actions[action]
  const expected = bodyType(target)
  const { subresource } = call
  if (perform === undefined || expected === undefined) throw notImplemented(target)
  const responseFormat = negotiateFormat(target)
  const options = parseCreateOptions(target.query, identity)
  const format = negotiateBody(exchange.request.headers['content-type'], { identity, formats: allFormats })
  const { object } = decodeBody(format, await readBody(exchange, maxOptionsBytes), expected)
  const body = subresource?.body?.defaults?.(object, call) ?? object
  if (exchange.audited) auditRequestBody(exchange, expected, body)
  const result = await performAction(server.engine, call.with({ options }), { action: perform, body, catalog: exchange.catalog })
  const represented =
    result === undefined
      ? representDocument(responseFormat, statusObject({ status: 'Success', code: 201 }))
      : representActionResult(responseFormat, {
          type: { kind: expected.kind, apiVersion: expected.apiVersion },
          schema: expected.schema,
          object: result,
        })
  send(exchange, { code: 201, ...represented })
  return true
}

/** POST of a kind that stands for a subresource, such as Binding for pods/binding. */
export async function servePostTo({ server, exchange, call }: Target, responseFormat: ResponseFormat, object: ApiObject): Promise<Handled> {
  const kind = call.resource
  const { postsTo } = kind.definition
  const resource = exchange.catalog.find(kind.group, kind.version, postsTo?.resource ?? '')
  const subresource = resource?.subresources.get(postsTo?.subresource ?? '')
  const perform = subresource?.action && actions[subresource.action]
  if (resource === undefined || perform === undefined) throw methodNotAllowed()
  if (!object.metadata?.name) throw badRequest('Name parameter required.')
  const binding = call.with({ resource, subresource, name: object.metadata.name })
  await performAction(server.engine, binding, { action: perform, body: object, catalog: exchange.catalog })
  send(exchange, { code: 201, ...representDocument(responseFormat, statusObject({ status: 'Success', code: 201 })) })
  return true
}

const notImplemented = ({ call: { resource, subresource } }: Target): ApiError =>
  new ApiError({
    code: 501,
    reason: 'NotImplemented',
    message: `${resource.name}/${subresource?.name} is not implemented by this server`,
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
