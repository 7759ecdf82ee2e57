// Ingress and IngressClass: hosts, paths and backends, class parameters, printer columns.

import { asFirstGeneration, asNextGeneration } from '../../api/definition/generation.js'
import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { type FieldError, forbidden, invalid, notSupported, required, tooLong } from '../../api/field-error.js'
import { byteLength } from '../../api/validation/byte-length.js'
import {
  checkEach,
  checkOptional,
  checkOptionalChoice,
  checkPort,
  checkText,
  checkUnchanged,
  dnsSubdomainProblems,
  joined,
  noErrors,
  pathSegmentProblems,
} from '../../api/validation/checks.js'
import { dns1035Label, dnsLabel, dnsSubdomain } from '../../api/validation/name-formats.js'
import { checkDomainPrefixedPath, hostName } from '../../api/validation/network/domain-names.js'
import { parseIp } from '../../api/validation/network/ip.js'
import { portName } from '../../api/validation/network/port-name.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { describeBalancer, validateBalancerStatus } from '../core/service/service-validation.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { statusSubresource } from '../status-subresource.js'
import {
  type HTTPIngressPath,
  type Ingress,
  type IngressBackend,
  type IngressClass,
  type IngressClassParametersReference,
  type IngressRule,
  type IngressServiceBackend,
  type IngressSpec,
  type IngressTLS,
  ingressClass as ingressClassSchema,
  ingressClassSpec,
  ingress as ingressSchema,
  ingressSpec,
} from './v1.schema.js'

interface TypedReference {
  readonly apiGroup?: string
  readonly kind?: string
  readonly name?: string
}

function validateTypedReference(reference: TypedReference, field: string): readonly FieldError[] {
  const checkSegment = (name: 'kind' | 'name'): readonly FieldError[] => {
    const text = reference[name] ?? ''
    if (text === '') return [required(`${field}.${name}`, `${name} is required`)]
    return checkText(text, `${field}.${name}`, (value) => pathSegmentProblems(value, false))
  }
  return joined(
    checkOptional(reference.apiGroup, `${field}.apiGroup`, (group, at) => checkText(group, at, dnsSubdomain)),
    checkSegment('kind'),
    checkSegment('name'),
  )
}

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix']
const forbiddenPathParts = ['//', '/./', '/../', '%2f', '%2F']
const forbiddenPathEnds = ['/..', '/.']

/** Rules that an update may violate if the old object does. */
interface Leniency {
  readonly anySecretName?: boolean
  readonly anyWildcardRule?: boolean
}

function validateNewIngress(ingress: Ingress, { identity }: RuleContext): readonly FieldError[] {
  const key = identity.label('ingress.class')
  const [annotatedClass, className] = [ingress.metadata?.annotations?.[key], ingress.spec?.ingressClassName]
  const isSetTwice = annotatedClass !== undefined && className !== undefined
  return joined(
    validateIngressSpec(ingress.spec ?? {}, 'spec'),
    isSetTwice ? [invalid(`annotations.${key}`, annotatedClass, 'can not be set when the class field is also set')] : noErrors,
  )
}

const validateIngressChange = (next: Ingress, old: Ingress): readonly FieldError[] =>
  validateIngressSpec(next.spec ?? {}, 'spec', {
    anySecretName: (old.spec?.tls ?? []).some((tls) => validateSecretName(tls, '').length > 0),
    anyWildcardRule: (old.spec?.rules ?? []).some((rule) => isWildcard(rule) && validateHttp(rule, '').length > 0),
  })

function validateIngressSpec(spec: IngressSpec, field: string, leniency: Leniency = {}): readonly FieldError[] {
  const { rules = [], defaultBackend, ingressClassName } = spec
  const isEmpty = rules.length === 0 && defaultBackend === undefined
  return joined(
    isEmpty ? [invalid(field, rules, 'either `defaultBackend` or `rules` must be specified')] : noErrors,
    checkOptional(defaultBackend, `${field}.defaultBackend`, validateBackend),
    checkEach(rules, `${field}.rules`, (rule, at) =>
      joined(validateHost(rule, `${at}.host`), isWildcard(rule) && leniency.anyWildcardRule ? noErrors : validateHttp(rule, at)),
    ),
    checkEach(spec.tls, `${field}.tls`, (tls, at) =>
      joined(
        checkEach(tls.hosts, `${at}.hosts`, (host, hostAt) => checkText(host, hostAt, hostName)),
        leniency.anySecretName ? noErrors : validateSecretName(tls, at),
      ),
    ),
    checkOptional(ingressClassName, `${field}.ingressClassName`, (name, at) => checkText(name, at, dnsSubdomain)),
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
  const absoluteErrors = path.startsWith('/') ? noErrors : [invalid(at, path, 'must be an absolute path')]
  switch (pathType) {
    case 'Exact':
    case 'Prefix':
      return joined(
        absoluteErrors,
        forbiddenPathParts.filter((part) => path.includes(part)).map((part) => invalid(at, path, `must not contain '${part}'`)),
        forbiddenPathEnds.filter((end) => path.endsWith(end)).map((end) => invalid(at, path, `cannot end with '${end}'`)),
      )
    case 'ImplementationSpecific':
      return path === '' ? noErrors : absoluteErrors
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
  const nameErrors = name === '' ? [required(`${field}.service.name`)] : checkText(name, `${field}.service.name`, dns1035Label)
  return joined(nameErrors, validateServicePort(port, field))
}

function validateServicePort({ name = '', number = 0 }: NonNullable<IngressServiceBackend['port']>, field: string): readonly FieldError[] {
  if (name !== '' && number !== 0) return [invalid(field, '', 'cannot set both port name & port number')]
  if (name !== '') return checkText(name, `${field}.service.port.name`, portName)
  return number === 0 ? [required(field, 'port name or number is required')] : checkPort(number, `${field}.service.port.number`)
}

function prepareIngressUpdate(next: Ingress, old: Ingress): Ingress {
  const prepared = { ...next, status: old.status ?? { loadBalancer: {} } }
  return sameBySchema(ingressSpec, next.spec ?? {}, old.spec ?? {}) ? prepared : asNextGeneration(prepared, old)
}

const maxShownHosts = 3

function describeHosts(rules: readonly IngressRule[] = []): string {
  const shown: string[] = []
  let isCut = false
  for (const { host = '' } of rules) {
    if (shown.length === maxShownHosts) isCut = true
    else if (host !== '') shown.push(host)
  }
  const text = shown.join(',') || '*'
  return isCut ? `${text} + ${rules.length - maxShownHosts} more...` : text
}

export const ingress = defineResource<Ingress>({
  group: { stem: 'networking' },
  errorGroup: 'extensions',
  kind: 'Ingress',
  resource: 'ingresses',
  shortNames: ['ing'],
  namespaced: true,
  versions: [{ name: 'v1', schema: ingressSchema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  prepareCreate: (object) => asFirstGeneration({ ...object, status: { loadBalancer: {} } }),
  prepareUpdate: prepareIngressUpdate,
  validate: validateNewIngress,
  validateUpdate: validateIngressChange,
  checks: { update: ['metadataChange', 'metadata', 'validateUpdate'] },
  resetFields: ['status'],
  subresources: [
    statusSubresource<Ingress>({
      validateUpdate: (next) => validateBalancerStatus(next.status?.loadBalancer?.ingress, 'status.loadBalancer'),
    }),
  ],
  table: tableOf<Ingress>(
    nameColumn,
    textColumn('Class', 'Class of the ingress.', ({ spec }) => spec?.ingressClassName ?? '<none>'),
    textColumn('Hosts', 'Hosts of the rules.', ({ spec }) => describeHosts(spec?.rules)),
    textColumn('Address', 'Addresses of the load balancer.', ({ status }) => describeBalancer(status?.loadBalancer?.ingress).join(',')),
    textColumn('Ports', 'Ports of the ingress.', ({ spec }) => ((spec?.tls ?? []).length > 0 ? '80, 443' : '80')),
    ageColumn,
  ),
})

const maxControllerBytes = 250
const scopes = ['Cluster', 'Namespace']

function withIngressClassDefaults(object: IngressClass): IngressClass {
  const { parameters } = object.spec ?? {}
  if (parameters === undefined || parameters.scope !== undefined) return object
  return { ...object, spec: { ...object.spec, parameters: { ...parameters, scope: 'Cluster' } } }
}

function validateIngressClass({ spec: { controller = '', parameters } = {} }: IngressClass): readonly FieldError[] {
  const field = 'spec.controller'
  return joined(
    byteLength(controller) > maxControllerBytes ? [tooLong(field, maxControllerBytes)] : noErrors,
    checkDomainPrefixedPath(controller, field),
    checkOptional(parameters, 'spec.parameters', validateParameters),
  )
}

function validateParameters(parameters: IngressClassParametersReference, field: string): readonly FieldError[] {
  return joined(validateTypedReference(parameters, field), validateScope(parameters, field))
}

function validateScope({ scope, namespace }: IngressClassParametersReference, field: string): readonly FieldError[] {
  const at = `${field}.namespace`
  if (scope === undefined) return [required(`${field}.scope`)]
  if (scope === 'Cluster') return namespace === undefined ? noErrors : [forbidden(at, "`parameters.scope` is set to 'Cluster'")]
  if (scope !== 'Namespace') return checkOptionalChoice(scope, `${field}.scope`, scopes)
  return namespace === undefined ? [required(at, "`parameters.scope` is set to 'Namespace'")] : checkText(namespace, at, dnsLabel)
}

function describeParameters({ spec }: IngressClass): string {
  const { apiGroup, kind = '', name = '' } = spec?.parameters ?? {}
  if (spec?.parameters === undefined) return '<none>'
  return `${kind}${apiGroup === undefined ? '' : `.${apiGroup}`}/${name}`
}

export const ingressClass = defineResource<IngressClass>({
  group: { stem: 'networking' },
  kind: 'IngressClass',
  resource: 'ingressclasses',
  namespaced: false,
  versions: [{ name: 'v1', schema: ingressClassSchema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults: withIngressClassDefaults,
  prepareCreate: asFirstGeneration,
  prepareUpdate: (next, old) => (sameBySchema(ingressClassSpec, next.spec ?? {}, old.spec ?? {}) ? next : asNextGeneration(next, old)),
  validate: validateIngressClass,
  validateUpdate: (next, old) => checkUnchanged(next.spec?.controller ?? '', old.spec?.controller ?? '', 'spec.controller'),
  checks: { update: ['metadataChange', 'validateUpdate', 'metadata', 'validate'] },
  table: tableOf<IngressClass>(
    nameColumn,
    textColumn('Controller', 'Controller of the class.', (object) => object.spec?.controller ?? ''),
    textColumn('Parameters', 'Object with the parameters of the class.', (object) => describeParameters(object)),
    ageColumn,
  ),
})
