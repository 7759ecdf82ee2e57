// CertificateSigningRequest: main resource for the requester, `approval` for the approver, `status` for the signer.

import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { duplicate, type FieldError, forbidden, invalid, notSupported, required, tooLong } from '../../api/field-error.js'
import { humanDuration } from '../../api/human-duration.js'
import { byteLength } from '../../api/validation/byte-length.js'
import { checkEach, joined, noErrors, noNameProblems } from '../../api/validation/checks.js'
import { dnsLabel, dnsSubdomain, type TextRule } from '../../api/validation/name-formats.js'
import { sameValue } from '../../api/validation/same-value.js'
import { timeOf } from '../../schema/scalars.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { statusSubresource } from '../status-subresource.js'
import { checkCertificates, readCertificateRequest, SignedDataError } from './certificate-der.js'
import {
  type CertificateSigningRequest,
  type CertificateSigningRequestCondition as Condition,
  certificateSigningRequest as schema,
} from './v1.schema.js'

type Request = CertificateSigningRequest

const decisions = ['Approved', 'Denied']
const finalTypes = [...decisions, 'Failed']
const statuses = ['False', 'True', 'Unknown']
const conditionsField = 'status.conditions'

const conditionsOf = ({ status }: Request): readonly Condition[] => status?.conditions ?? []
const conditionsOfType = (request: Request, type: string): readonly Condition[] =>
  conditionsOf(request).filter((condition) => (condition.type ?? '') === type)

function validateConditions(request: Request): readonly FieldError[] {
  const seen = new Set<string>()
  return checkEach(request.status?.conditions, conditionsField, ({ type = '', status = '' }, at) => {
    const errors: FieldError[] = type === '' ? [required(`${at}.type`)] : []
    const allowed = finalTypes.includes(type) ? ['True'] : statuses
    if (status === '') errors.push(required(`${at}.status`))
    else if (!allowed.includes(status)) errors.push(notSupported(`${at}.status`, status, allowed))
    const opposite = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined
    if (opposite !== undefined && seen.has(opposite)) {
      errors.push(invalid(`${at}.type`, type, 'Approved and Denied conditions are mutually exclusive'))
    }
    if (seen.has(type)) errors.push(duplicate(`${at}.type`, type))
    seen.add(type)
    return errors
  })
}

const validateKeptConditions = (next: Request, old: Request): readonly FieldError[] =>
  finalTypes
    .filter((type) => conditionsOfType(next, type).length < conditionsOfType(old, type).length)
    .map((type) => forbidden(conditionsField, `updates may not remove a condition of type "${type}"`))

/** Rejects added or changed approvals and denials: only the approval subresource writes them. */
const validateSameDecision = (next: Request, old: Request): readonly FieldError[] =>
  decisions.flatMap((type) => {
    const [after, before] = [conditionsOfType(next, type), conditionsOfType(old, type)]
    if (after.length > before.length) return [forbidden(conditionsField, `updates may not add a condition of type "${type}"`)]
    if (after.length < before.length || sameValue(after, before)) return []
    return [forbidden(conditionsField, `updates may not modify a condition of type "${type}"`)]
  })

/** Restores approvals and denials of the old object, unless their number changed. */
function withOldDecisions(next: Request, old: Request): readonly Condition[] {
  const kept = new Map(
    decisions
      .filter((type) => conditionsOfType(next, type).length === conditionsOfType(old, type).length)
      .map((type) => [type, [...conditionsOfType(old, type)]]),
  )
  return conditionsOf(next).map((condition) => kept.get(condition.type ?? '')?.shift() ?? condition)
}

/** Sets missing times to now; lastTransitionTime to that of the old condition of the same type and status, if there is one. */
function withTimes(conditions: readonly Condition[], old: Request, now: number): readonly Condition[] {
  const time = timeOf(now)
  return conditions.map((condition) => {
    const before = conditionsOf(old).find(
      ({ type, status, lastTransitionTime }) => type === condition.type && status === condition.status && lastTransitionTime !== undefined,
    )
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? time,
      lastTransitionTime: condition.lastTransitionTime ?? before?.lastTransitionTime ?? time,
    }
  })
}

const maxDomainBytes = 253
/** Maximum length of `<domain>/<subdomain>.<label>`. */
const maxNameBytes = maxDomainBytes + 1 + maxDomainBytes + 1 + 63

export function validateSignerName(name: string, field: string): readonly FieldError[] {
  if (name === '') return [required(field)]
  const parts = name.split('/')
  if (parts.length !== 2) {
    return [invalid(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")]
  }
  const [domain = '', path = ''] = parts
  return joined(
    byteLength(domain) > maxDomainBytes ? [tooLong(field, maxDomainBytes)] : noErrors,
    checkParts(domain, field, dnsLabel),
    domain.includes('.') ? noErrors : [invalid(field, domain, 'should be a domain with at least two segments separated by dots')],
    checkParts(path, field, dnsSubdomain),
    byteLength(name) > maxNameBytes ? [tooLong(field, maxNameBytes)] : noErrors,
  )
}

function checkParts(text: string, field: string, rule: TextRule): readonly FieldError[] {
  for (const part of text.split('.')) {
    const problems = rule(part)
    if (problems.length > 0) return problems.map((problem) => invalid(field, text, `validating label ${JSON.stringify(part)}: ${problem}`))
  }
  return noErrors
}

const minExpirationSeconds = 600

const keyUsages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
]

/** Sets the requester to the authenticated user. */
function prepareCreate(request: Request, { user }: RuleContext): Request {
  const { request: bytes, signerName, expirationSeconds, usages } = request.spec ?? {}
  const spec = {
    ...(bytes === undefined ? {} : { request: bytes }),
    ...(signerName === undefined ? {} : { signerName }),
    ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
    ...(usages === undefined ? {} : { usages }),
    username: user.name,
    uid: user.uid,
    groups: user.groups,
    ...(Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
  }
  return { ...request, spec, status: {} }
}

function validate(request: Request, { identity }: RuleContext): readonly FieldError[] {
  const { request: bytes = '', usages = [], signerName = '', expirationSeconds } = request.spec ?? {}
  const legacy = identity.label('legacy-unknown')
  return joined(
    checkSigned('spec.request', bytes, () => readCertificateRequest(bytes)),
    usages.length === 0 ? [required('spec.usages')] : noErrors,
    checkEach(usages, 'spec.usages', (usage, at) => (keyUsages.includes(usage) ? noErrors : [notSupported(at, usage, keyUsages)])),
    checkEach(usages, 'spec.usages', (usage, at, i) => (usages.indexOf(usage) < i ? [duplicate(at, usage)] : noErrors)),
    signerName === legacy
      ? [invalid('spec.signerName', signerName, 'the legacy signerName is not allowed via this API version')]
      : validateSignerName(signerName, 'spec.signerName'),
    expirationSeconds === undefined || expirationSeconds >= minExpirationSeconds
      ? noErrors
      : [invalid('spec.expirationSeconds', expirationSeconds, 'may not specify a duration less than 600 seconds (10 minutes)')],
  )
}

function checkSigned(field: string, reportedValue: string, read: () => unknown): readonly FieldError[] {
  try {
    read()
    return noErrors
  } catch (thrown) {
    if (thrown instanceof SignedDataError) return [invalid(field, reportedValue, thrown.message)]
    throw thrown
  }
}

const certificateOf = ({ status }: Request): string => status?.certificate ?? ''

const validateStatus = (next: Request, old: Request): readonly FieldError[] =>
  joined(
    validateConditions(next),
    validateIssued(next, old),
    validateKeptConditions(next, old),
    validateSameDecision(next, old),
    certificateOf(old) === '' || certificateOf(next) === certificateOf(old)
      ? noErrors
      : [forbidden('status.certificate', 'updates may not modify existing certificate content')],
  )

/** Validates the certificate when it is issued. Errors do not quote it. */
function validateIssued(next: Request, old: Request): readonly FieldError[] {
  const certificate = certificateOf(next)
  if (certificate === '' || certificate === certificateOf(old)) return noErrors
  return checkSigned('status.certificate', '<certificate data>', () => checkCertificates(certificate))
}

function describeState({ status: { conditions = [], certificate = '' } = {} }: Request): string {
  const has = (type: string): boolean => conditions.some((condition) => condition.type === type)
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'
  return [decision, ...(has('Failed') ? ['Failed'] : []), ...(certificate === '' ? [] : ['Issued'])].join(',')
}

export const certificateSigningRequest = defineResource<Request>({
  group: { stem: 'certificates' },
  kind: 'CertificateSigningRequest',
  resource: 'certificatesigningrequests',
  shortNames: ['csr'],
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: noNameProblems,
  prepareCreate,
  prepareUpdate: (next, old) => ({ ...next, spec: old.spec ?? {}, status: old.status ?? {} }),
  validate,
  checks: { update: ['metadata', 'metadataChange'] },
  resetFields: ['spec', 'status'],
  selectableFields: { 'spec.signerName': ({ spec }) => spec?.signerName ?? '' },
  subresources: [
    {
      name: 'approval',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: (next, old, { now }) => ({
        ...next,
        spec: old.spec ?? {},
        status: { ...old.status, conditions: withTimes(next.status?.conditions ?? [], old, now) },
      }),
      validateUpdate: (next, old) => joined(validateConditions(next), validateKeptConditions(next, old)),
      resetFields: ['spec', 'status.certificate'],
    },
    statusSubresource<Request>({
      prepareUpdate: (next, old, { now }) => ({
        ...next,
        spec: old.spec ?? {},
        status: { ...next.status, conditions: withTimes(withOldDecisions(next, old), old, now) },
      }),
      validateUpdate: validateStatus,
      resetFields: ['spec', 'status.conditions'],
    }),
  ],
  table: tableOf<Request>(
    nameColumn,
    ageColumn,
    textColumn('SignerName', 'Requested signer.', ({ spec }) => spec?.signerName || '<none>'),
    textColumn('Requestor', 'User who requested the certificate.', ({ spec }) => spec?.username ?? ''),
    textColumn('RequestedDuration', 'Requested lifetime of the certificate.', ({ spec }) =>
      spec?.expirationSeconds === undefined ? '<none>' : humanDuration(spec.expirationSeconds * 1000),
    ),
    textColumn('Condition', 'State of the request: approved, denied, issued.', describeState),
  ),
})
