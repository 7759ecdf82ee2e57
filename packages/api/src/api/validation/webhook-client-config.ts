// Validation of a webhook's clientConfig: a URL, or a service with path and port.

import { type FieldError, invalid, required } from '../field-error.js'
import { joined, noErrors } from './checks.js'
import { dnsSubdomain } from './name-formats.js'
import { parseUrl } from './network/parse-url.js'

interface ServiceTarget {
  readonly namespace?: string
  readonly name?: string
  readonly path?: string
  readonly port?: number
}

export interface WebhookClientConfig {
  readonly url?: string
  readonly service?: ServiceTarget
}

/** Requires exactly one of url and service. `allowsLoopbackHttp`: accepts http URLs of loopback hosts. */
export function validateWebhookClientConfig(
  { url, service }: WebhookClientConfig,
  field: string,
  allowsLoopbackHttp = false,
): readonly FieldError[] {
  if (url !== undefined && service === undefined) return validateWebhookUrl(url, `${field}.url`, allowsLoopbackHttp)
  if (url === undefined && service !== undefined) return validateServiceTarget(service, `${field}.service`)
  return [required(field, 'exactly one of url or service is required')]
}

const desiredFormat = '; desired format: https://host[/path]'

const loopback = /^(127\.0\.0\.1|\[::1\]|localhost)(:\d+)?$/

function validateWebhookUrl(text: string, field: string, allowsLoopbackHttp: boolean): readonly FieldError[] {
  const url = parseUrl(text)
  if (url === undefined) return [required(field, `url must be a valid URL${desiredFormat}`)]
  const errors: FieldError[] = []
  const isLoopbackHttp = allowsLoopbackHttp && url.scheme === 'http' && loopback.test(url.host)
  if (url.scheme !== 'https' && !isLoopbackHttp)
    errors.push(invalid(field, url.scheme, `'https' is the only allowed URL scheme${desiredFormat}`))
  if (url.host === '') errors.push(invalid(field, '', `host must be specified${desiredFormat}`))
  if (url.user !== undefined) errors.push(invalid(field, url.user, 'user information is not permitted in the URL'))
  if (url.fragment !== '') errors.push(invalid(field, url.fragment, 'fragments are not permitted in the URL'))
  if (url.query !== '') errors.push(invalid(field, url.query, 'query parameters are not permitted in the URL'))
  return errors
}

/** As in kube-apiserver, a missing name is reported at `namespace`, and the reverse. */
function validateServiceTarget({ namespace = '', name = '', path = '', port = 0 }: ServiceTarget, field: string): readonly FieldError[] {
  return joined(
    namespace === '' ? [required(`${field}.name`, 'service name is required')] : noErrors,
    name === '' ? [required(`${field}.namespace`, 'service namespace is required')] : noErrors,
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
