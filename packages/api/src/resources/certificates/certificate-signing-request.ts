// Requests for certificates: somebody asks, somebody approves, a signer issues. Each writes a part that the others cannot.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from '../../api/field-error.js'
import { ageOf, humanDuration } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { checkEach, joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { validateConditions, validateKeptConditions, validateSameDecision, withOldDecisions, withTimes } from './request-conditions.js'
import { checkCertificates, readCertificateRequest, SignedDataError } from './signed-data.js'
import { validateSignerName } from './signer-name.js'
import { type CertificateSigningRequest as Request, certificateSigningRequest as schema } from './v1.schema.js'

const leastSeconds = 600

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

/** Who asks is not what the request says but who sent it. */
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
    expirationSeconds === undefined || expirationSeconds >= leastSeconds
      ? noErrors
      : [invalid('spec.expirationSeconds', expirationSeconds, 'may not specify a duration less than 600 seconds (10 minutes)')],
  )
}

function checkSigned(field: string, shown: string, read: () => unknown): readonly FieldError[] {
  try {
    read()
    return noErrors
  } catch (thrown) {
    if (thrown instanceof SignedDataError) return [invalid(field, shown, thrown.message)]
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

/** A certificate is looked into when it is issued, and shown to nobody in an error. */
function validateIssued(next: Request, old: Request): readonly FieldError[] {
  const certificate = certificateOf(next)
  if (certificate === '' || certificate === certificateOf(old)) return noErrors
  return checkSigned('status.certificate', '<certificate data>', () => checkCertificates(certificate))
}

/** Denied before approved, then what came of it. */
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
  nameProblems: pathSegmentProblems,
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
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: (next, old, { now }) => ({
        ...next,
        spec: old.spec ?? {},
        status: { ...next.status, conditions: withTimes(withOldDecisions(next, old), old, now) },
      }),
      validateUpdate: validateStatus,
      resetFields: ['spec', 'status.conditions'],
    },
  ],
  table: {
    columns: [
      nameColumn,
      ageColumn,
      textColumn('SignerName', 'The signer that is to issue the certificate.'),
      textColumn('Requestor', 'The user who asked for it.'),
      textColumn('RequestedDuration', 'How long it shall be valid.'),
      textColumn('Condition', 'Whether it is approved and issued.'),
    ],
    cells: (request, { now }) => {
      const { signerName = '', username = '', expirationSeconds } = request.spec ?? {}
      return [
        request.metadata?.name ?? '',
        ageOf(request.metadata?.creationTimestamp, now),
        signerName === '' ? '<none>' : signerName,
        username,
        expirationSeconds === undefined ? '<none>' : humanDuration(expirationSeconds * 1000),
        describeState(request),
      ]
    },
  },
})
