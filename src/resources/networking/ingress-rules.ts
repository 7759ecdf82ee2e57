// The rules of ingresses: hosts that are names, paths that are what they seem, and one backend for each.

import type { RuleContext } from '../../api/definition.js'
import { type FieldError, invalid, notSupported, required } from '../../api/field-error.js'
import { checkEach, checkPart, joined } from '../../api/validation/collect.js'
import { hostName } from '../../api/validation/domain-names.js'
import { checkPort, checkText, noErrors } from '../../api/validation/fields.js'
import { parseIp } from '../../api/validation/ip.js'
import { portName } from '../../api/validation/port-name.js'
import { dns1035Label, dnsSubdomain } from '../../api/validation/text-rules.js'
import { validateTypedReference } from './typed-reference.js'
import type { HTTPIngressPath, Ingress, IngressBackend, IngressRule, IngressServiceBackend, IngressSpec, IngressTLS } from './v1.schema.js'

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix']
const confusing = ['//', '/./', '/../', '%2f', '%2F']
const confusingEnds = ['/..', '/.']

/** What an object that was stored before a rule may go on breaking. */
export interface Leniency {
  readonly anySecretName?: boolean
  readonly anyWildcardRule?: boolean
}

export function validateNewIngress(ingress: Ingress, { identity }: RuleContext): readonly FieldError[] {
  const key = identity.label('ingress.class')
  const [annotated, named] = [ingress.metadata?.annotations?.[key], ingress.spec?.ingressClassName]
  const isSaidTwice = annotated !== undefined && named !== undefined
  return joined(
    validateIngressSpec(ingress.spec ?? {}, 'spec'),
    isSaidTwice ? [invalid(`annotations.${key}`, annotated, 'can not be set when the class field is also set')] : noErrors,
  )
}

/** A change may leave as it is what today's rules would refuse. */
export const validateIngressChange = (next: Ingress, old: Ingress): readonly FieldError[] =>
  validateIngressSpec(next.spec ?? {}, 'spec', {
    anySecretName: (old.spec?.tls ?? []).some((tls) => validateSecretName(tls, '').length > 0),
    anyWildcardRule: (old.spec?.rules ?? []).some((rule) => isWildcard(rule) && validateHttp(rule, '').length > 0),
  })

function validateIngressSpec(spec: IngressSpec, field: string, leniency: Leniency = {}): readonly FieldError[] {
  const { rules = [], defaultBackend, ingressClassName } = spec
  const isEmpty = rules.length === 0 && defaultBackend === undefined
  return joined(
    isEmpty ? [invalid(field, rules, 'either `defaultBackend` or `rules` must be specified')] : noErrors,
    checkPart(defaultBackend, `${field}.defaultBackend`, validateBackend),
    checkEach(rules, `${field}.rules`, (rule, at) =>
      joined(validateHost(rule, `${at}.host`), isWildcard(rule) && leniency.anyWildcardRule ? noErrors : validateHttp(rule, at)),
    ),
    checkEach(spec.tls, `${field}.tls`, (tls, at) =>
      joined(
        checkEach(tls.hosts, `${at}.hosts`, (host, hostAt) => checkText(host, hostAt, hostName)),
        leniency.anySecretName ? noErrors : validateSecretName(tls, at),
      ),
    ),
    checkPart(ingressClassName, `${field}.ingressClassName`, (name, at) => checkText(name, at, dnsSubdomain)),
  )
}

const validateSecretName = ({ secretName = '' }: IngressTLS, field: string): readonly FieldError[] =>
  secretName === '' ? noErrors : checkText(secretName, `${field}.secretName`, dnsSubdomain)

const isWildcard = ({ host = '' }: IngressRule): boolean => host.includes('*')

function validateHost({ host = '' }: IngressRule, field: string): readonly FieldError[] {
  if (host === '') return noErrors
  return joined(
    parseIp(host) === undefined ? noErrors : [invalid(field, host, 'must be a DNS name, not an IP address')],
    checkText(host, field, hostName),
  )
}

function validateHttp({ http }: IngressRule, field: string): readonly FieldError[] {
  if (http === undefined) return noErrors
  const { paths = [] } = http
  return paths.length === 0 ? [required(`${field}.http.paths`)] : checkEach(paths, `${field}.http.paths`, validatePath)
}

function validatePath(rule: HTTPIngressPath, field: string): readonly FieldError[] {
  const { path = '', pathType, backend = {} } = rule
  if (pathType === undefined) return [required(`${field}.pathType`, 'pathType must be specified')]
  return joined(validatePathText(path, pathType, field), validateBackend(backend, `${field}.backend`))
}

function validatePathText(path: string, pathType: string, field: string): readonly FieldError[] {
  const at = `${field}.path`
  const absolute = path.startsWith('/') ? noErrors : [invalid(at, path, 'must be an absolute path')]
  switch (pathType) {
    case 'Exact':
    case 'Prefix':
      return joined(
        absolute,
        confusing.filter((part) => path.includes(part)).map((part) => invalid(at, path, `must not contain '${part}'`)),
        confusingEnds.filter((end) => path.endsWith(end)).map((end) => invalid(at, path, `cannot end with '${end}'`)),
      )
    case 'ImplementationSpecific':
      return path === '' ? noErrors : absolute
    default:
      return [notSupported(`${field}.pathType`, pathType, pathTypes)]
  }
}

function validateBackend({ service, resource }: IngressBackend, field: string): readonly FieldError[] {
  if (service !== undefined && resource !== undefined) return [invalid(field, '', 'cannot set both resource and service backends')]
  if (resource !== undefined) return validateTypedReference(resource, `${field}.resource`)
  if (service !== undefined) return validateServiceBackend(service, field)
  return [invalid(field, '', 'resource or service backend is required')]
}

function validateServiceBackend({ name = '', port = {} }: IngressServiceBackend, field: string): readonly FieldError[] {
  const named = name === '' ? [required(`${field}.service.name`)] : checkText(name, `${field}.service.name`, dns1035Label)
  return joined(named, validateServicePort(port, field))
}

function validateServicePort({ name = '', number = 0 }: NonNullable<IngressServiceBackend['port']>, field: string): readonly FieldError[] {
  if (name !== '' && number !== 0) return [invalid(field, '', 'cannot set both port name & port number')]
  if (name !== '') return checkText(name, `${field}.service.port.name`, portName)
  return number === 0 ? [required(field, 'port name or number is required')] : checkPort(number, `${field}.service.port.number`)
}
