// Subresources that are actions or connections: the body is of a kind of their own, or there is none.

import { ApiError, badRequest } from '../api/api-error.js'
import type { ApiObject } from '../api/object.js'
import { type CreateOptions, parseCreateOptions } from '../api/options/write-options.js'
import { decodeBody } from '../codec/decode-body.js'
import type { ExpectedType } from '../codec/decode-object.js'
import { allFormats, negotiateBody } from '../codec/negotiation.js'
import { connect, isConnection } from '../verbs/special/connect.js'
import { actionOf, actions } from '../verbs/special/special.js'
import type { Answered } from './pipeline.js'
import { readBody } from './read-body.js'
import { type Form, representDocument } from './represent.js'
import { send } from './respond.js'
import { statusObject } from './status.js'
import { callOf, formOf, methodNotAllowed, type Target } from './target.js'

/** Whether a request is not one for the object itself. */
export const isSpecial = ({ subresource }: Target): boolean => subresource?.body !== undefined

export function serveSpecial(target: Target): Answered | Promise<Answered> {
  return isConnection(target.subresource?.name ?? '') ? serveConnection(target) : serveAction(target)
}

async function serveConnection(target: Target): Promise<Answered> {
  const { exchange, server, query } = target
  const isUpgrade = exchange.header('upgrade') !== ''
  const text = await connect(server.engine, callOf(target), { catalog: exchange.catalog, query, isUpgrade })
  send(exchange, { code: 200, contentType: 'text/plain', body: Buffer.from(text) })
  return true
}

async function serveAction(target: Target): Promise<Answered> {
  const { exchange, server } = target
  const { identity } = server.engine
  const call = callOf(target)
  const act = actionOf(call)
  const expected = bodyType(target)
  if (act === undefined || expected === undefined) throw notServedYet(target)
  const form = formOf(target)
  const options = parseCreateOptions(target.query, identity)
  const format = negotiateBody(exchange.request.headers['content-type'], { identity, formats: allFormats })
  const { object } = decodeBody(format, await readBody(exchange), expected)
  await act(server.engine, call, { body: object, options, catalog: exchange.catalog })
  send(exchange, { code: 201, ...representDocument(form, statusObject({ status: 'Success', code: 201 })) })
  return true
}

/** A binding that names its pod itself, and not by the path. */
export async function bindByName(
  target: Target,
  form: Form,
  { object, options }: { readonly object: ApiObject; readonly options: CreateOptions },
): Promise<Answered> {
  const { server, exchange } = target
  const pods = exchange.catalog.find('', 'v1', 'pods')
  const act = actions['pods/binding']
  if (pods === undefined || act === undefined) throw methodNotAllowed()
  if (!object.metadata?.name) throw badRequest('Name parameter required.')
  const call = {
    ...callOf(target),
    resource: pods,
    subresource: pods.subresources.get('binding'),
    name: object.metadata?.name ?? '',
  }
  await act(server.engine, call, { body: object, options, catalog: exchange.catalog })
  send(exchange, { code: 201, ...representDocument(form, statusObject({ status: 'Success', code: 201 })) })
  return true
}

const notServedYet = ({ resource, subresource }: Target): ApiError =>
  new ApiError({
    code: 501,
    reason: 'NotImplemented',
    message: `${resource.name}/${subresource?.name} is not answered by this server yet`,
    details: {},
  })

function bodyType({ subresource }: Target): ExpectedType | undefined {
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
