// API services: which server answers for a version of a group, this one or another behind a service.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { type FieldError, invalid, notSupported, required } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import { statusAlone } from '../../api/old-metadata.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { checkEach, checkPresent, joined } from '../../api/validation/collect.js'
import { checkText, noErrors } from '../../api/validation/fields.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { dns1035Label, dnsSubdomain } from '../../api/validation/text-rules.js'
import { checkTargetPort } from '../../api/validation/webhook-target.js'
import { base64ByteLength } from '../../schema/base64.js'
import { timeOf } from '../../schema/scalars.js'
import { withChanged, withMissing } from '../core/pod-spec/missing-members.js'
import { type APIService, type APIServiceCondition, type APIServiceSpec, apiService as schema } from './v1.schema.js'

const groupPriorityLimit = 20000
const versionPriorityLimit = 1000
const statuses = ['True', 'False', 'Unknown']

const defaults = (service: APIService): APIService =>
  withChanged(service, 'spec', (spec) => withChanged(spec, 'service', (target) => withMissing(target, { port: 443 })))

/** What this server answers itself is available from the start. */
export const localCondition = (now: number): APIServiceCondition => ({
  type: 'Available',
  status: 'True',
  lastTransitionTime: timeOf(now),
  reason: 'Local',
  message: 'Local APIServices are always available',
})

const prepareCreate = (service: APIService, { now }: RuleContext): APIService => ({
  ...service,
  status: service.spec?.service === undefined ? { conditions: [localCondition(now)] } : {},
})

const validate = ({ metadata, spec = {} }: APIService): readonly FieldError[] =>
  joined(
    checkOwnName(metadata?.generateName ?? '', 'metadata.generateName', spec),
    checkOwnName(metadata?.name ?? '', 'metadata.name', spec),
    validateSpec(spec),
  )

/** The name says the version and the group again, so that there is one service for each. */
function checkOwnName(name: string, field: string, { version = '', group = '' }: APIServiceSpec): readonly FieldError[] {
  const wanted = `${version}.${group}`
  if (name === '' || name === wanted || pathSegmentProblems(name, false).length > 0) return noErrors
  return [invalid(field, name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`)]
}

function validateSpec(spec: APIServiceSpec): readonly FieldError[] {
  const { group = '', version = '', groupPriorityMinimum = 0, versionPriority = 0 } = spec
  return joined(
    group === '' && version !== 'v1' ? [required('spec.group', 'only v1 may have an empty group and it better be legacy kube')] : noErrors,
    group === '' ? noErrors : checkText(group, 'spec.group', dnsSubdomain),
    checkText(version, 'spec.version', dns1035Label),
    checkPriority(groupPriorityMinimum, 'spec.groupPriorityMinimum', groupPriorityLimit),
    checkPriority(versionPriority, 'spec.versionPriority', versionPriorityLimit),
    spec.service === undefined ? validateLocal(spec) : validateRemote(spec),
  )
}

const checkPriority = (priority: number, field: string, limit: number): readonly FieldError[] =>
  priority > 0 && priority <= limit ? noErrors : [invalid(field, priority, `must be positive and less than ${limit}`)]

function validateLocal({ caBundle = '', insecureSkipTLSVerify = false }: APIServiceSpec): readonly FieldError[] {
  const size = base64ByteLength(caBundle)
  return joined(
    size === 0 ? noErrors : [invalid('spec.caBundle', `${size} bytes`, 'local APIServices may not have a caBundle')],
    insecureSkipTLSVerify
      ? [invalid('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify')]
      : noErrors,
  )
}

function validateRemote({ service = {}, caBundle = '', insecureSkipTLSVerify = false }: APIServiceSpec): readonly FieldError[] {
  return joined(
    checkPresent(service.namespace, 'spec.service.namespace'),
    checkPresent(service.name, 'spec.service.name'),
    checkTargetPort(service.port ?? 0, 'spec.service.port'),
    insecureSkipTLSVerify && caBundle !== ''
      ? [invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present')]
      : noErrors,
  )
}

const validateStatus = ({ status }: APIService): readonly FieldError[] =>
  checkEach(status?.conditions, 'status.conditions', ({ status: text = '' }, field) =>
    statuses.includes(text) ? noErrors : [notSupported(`${field}.status`, text, statuses)],
  )

/** Whether it is available, and if not, why. */
function describeAvailability({ status }: APIService): string {
  const condition = (status?.conditions ?? []).find(({ type }) => type === 'Available')
  if (condition === undefined) return 'Unknown'
  const { status: text = '', reason = '' } = condition
  return text === 'True' || reason === '' ? text : `${text} (${reason})`
}

export const apiService = defineResource<APIService>({
  group: { stem: 'apiregistration' },
  kind: 'APIService',
  resource: 'apiservices',
  categories: ['api-extensions'],
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: pathSegmentProblems,
  defaults,
  prepareCreate,
  prepareUpdate: (next, old) => ({ ...next, status: old.status ?? {} }),
  validate,
  checks: { update: ['metadataChange', 'metadata', 'own'] },
  versionRequiredOnUpdate: true,
  anyFinalizer: true,
  resetFields: ['status'],
  subresources: [statusAlone(validateStatus)],
  table: {
    columns: [
      nameColumn,
      textColumn('Service', 'The service behind which the server is.'),
      textColumn('Available', 'Whether it answers.'),
      ageColumn,
    ],
    cells: (service, { now }) => {
      const target = service.spec?.service
      return [
        service.metadata?.name ?? '',
        target === undefined ? 'Local' : `${target.namespace ?? ''}/${target.name ?? ''}`,
        describeAvailability(service),
        ageOf(service.metadata?.creationTimestamp, now),
      ]
    },
  },
})
