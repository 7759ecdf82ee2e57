// APIService: which server serves an API group and version, this one or one behind a Service.

import { statusOnlySubresource } from '../../api/definition/keep-metadata.js'
import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { type FieldError, invalid, notSupported, required } from '../../api/field-error.js'
import { checkEach, checkPresent, checkText, joined, noErrors, pathSegmentProblems } from '../../api/validation/checks.js'
import { dns1035Label, dnsSubdomain } from '../../api/validation/name-formats.js'
import { checkTargetPort } from '../../api/validation/webhook-client-config.js'
import { base64ByteLength } from '../../base/text/base64.js'
import { timeOf } from '../../schema/scalars.js'
import { withChanged, withMissing } from '../core/pod-spec/visit-containers.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { withOldStatus } from '../status-subresource.js'
import { type APIService, type APIServiceCondition, type APIServiceSpec, apiService as schema } from './v1.schema.js'

const maxGroupPriority = 20000
const maxVersionPriority = 1000
const statuses = ['True', 'False', 'Unknown']

const defaults = (service: APIService): APIService =>
  withChanged(service, 'spec', (spec) => withChanged(spec, 'service', (target) => withMissing(target, { port: 443 })))

/** Condition of local APIServices (without a Service), which are always available. */
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
    checkApiServiceName(metadata?.generateName ?? '', 'metadata.generateName', spec),
    checkApiServiceName(metadata?.name ?? '', 'metadata.name', spec),
    validateSpec(spec),
  )

/** The name must be `<version>.<group>`. */
function checkApiServiceName(name: string, field: string, { version = '', group = '' }: APIServiceSpec): readonly FieldError[] {
  const expected = `${version}.${group}`
  if (name === '' || name === expected || pathSegmentProblems(name, false).length > 0) return noErrors
  return [invalid(field, name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expected)}`)]
}

function validateSpec(spec: APIServiceSpec): readonly FieldError[] {
  const { group = '', version = '', groupPriorityMinimum = 0, versionPriority = 0 } = spec
  return joined(
    group === '' && version !== 'v1' ? [required('spec.group', 'only v1 may have an empty group and it better be legacy kube')] : noErrors,
    group === '' ? noErrors : checkText(group, 'spec.group', dnsSubdomain),
    checkText(version, 'spec.version', dns1035Label),
    checkPriority(groupPriorityMinimum, 'spec.groupPriorityMinimum', maxGroupPriority),
    checkPriority(versionPriority, 'spec.versionPriority', maxVersionPriority),
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
  prepareUpdate: withOldStatus,
  validate,
  checks: { update: ['metadataChange', 'metadata', 'validate'] },
  versionRequiredOnUpdate: true,
  anyFinalizer: true,
  resetFields: ['status'],
  subresources: [statusOnlySubresource(validateStatus)],
  table: tableOf<APIService>(
    nameColumn,
    textColumn('Service', 'Service of the remote API server.', ({ spec }) =>
      spec?.service === undefined ? 'Local' : `${spec.service.namespace ?? ''}/${spec.service.name ?? ''}`,
    ),
    textColumn('Available', 'Availability of the API server.', describeAvailability),
    ageColumn,
  ),
})
