// Where the server calls out to: the rules of a URL, or of a service with a path and a port, under which a webhook listens.

import { type FieldError, invalid, required } from '../field-error.js'
import { joined } from './collect.js'
import { noErrors } from './fields.js'
import { parseUrl } from './parse-url.js'
import { dnsSubdomain } from './text-rules.js'

export interface ServiceTarget {
  readonly namespace?: string
  readonly name?: string
  readonly path?: string
  readonly port?: number
}

export interface WebhookTarget {
  readonly url?: string
  readonly service?: ServiceTarget
}

/** Exactly one of the two ways to name the place. `allowsPlain`: one on this machine may do without TLS. */
export function validateWebhookTarget({ url, service }: WebhookTarget, field: string, allowsPlain = false): readonly FieldError[] {
  if (url !== undefined && service === undefined) return validateWebhookUrl(url, `${field}.url`, allowsPlain)
  if (url === undefined && service !== undefined) return validateServiceTarget(service, `${field}.service`)
  return [required(field, 'exactly one of url or service is required')]
}

const desiredForm = '; desired format: https://host[/path]'

const loopback = /^(127\.0\.0\.1|\[::1\]|localhost)(:\d+)?$/

function validateWebhookUrl(text: string, field: string, allowsPlain: boolean): readonly FieldError[] {
  const url = parseUrl(text)
  if (url === undefined) return [required(field, `url must be a valid URL${desiredForm}`)]
  const errors: FieldError[] = []
  const isPlain = allowsPlain && url.scheme === 'http' && loopback.test(url.host)
  if (url.scheme !== 'https' && !isPlain) errors.push(invalid(field, url.scheme, `'https' is the only allowed URL scheme${desiredForm}`))
  if (url.host === '') errors.push(invalid(field, '', `host must be specified${desiredForm}`))
  if (url.user !== undefined) errors.push(invalid(field, url.user, 'user information is not permitted in the URL'))
  if (url.fragment !== '') errors.push(invalid(field, url.fragment, 'fragments are not permitted in the URL'))
  if (url.query !== '') errors.push(invalid(field, url.query, 'query parameters are not permitted in the URL'))
  return errors
}

function validateServiceTarget({ namespace = '', name = '', path = '', port = 0 }: ServiceTarget, field: string): readonly FieldError[] {
  return joined(
    name === '' ? [required(`${field}.name`, 'service name is required')] : noErrors,
    namespace === '' ? [required(`${field}.namespace`, 'service namespace is required')] : noErrors,
    checkTargetPort(port, `${field}.port`),
    validateTargetPath(path, `${field}.path`),
  )
}

export const checkTargetPort = (port: number, field: string): readonly FieldError[] =>
  port >= 1 && port <= 65535 ? noErrors : [invalid(field, port, 'port is not valid: must be between 1 and 65535, inclusive')]

function validateTargetPath(path: string, field: string): readonly FieldError[] {
  if (path === '' || path === '/') return noErrors
  const errors: FieldError[] = []
  if (!path.startsWith('/')) errors.push(invalid(field, path, "must start with a '/'"))
  const segments = path.slice(1).replace(/\/$/, '').split('/')
  for (const [i, segment] of segments.entries()) {
    if (segment === '') errors.push(invalid(field, path, `segment[${i}] may not be empty`))
    else errors.push(...dnsSubdomain(segment).map((problem) => invalid(field, path, `segment[${i}]: ${problem}`)))
  }
  return errors
}
