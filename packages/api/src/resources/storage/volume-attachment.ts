// VolumeAttachment: source, immutable spec, status of attach and detach.

import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { type FieldError, forbidden, invalid, required, tooLong } from '../../api/field-error.js'
import { withMetadata } from '../../api/object.js'
import { byteLength } from '../../api/validation/byte-length.js'
import { checkOptional, checkText, dnsSubdomainProblems, joined, noErrors } from '../../api/validation/checks.js'
import { dnsSubdomain } from '../../api/validation/name-formats.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { withoutGatedSecret, withVolumeSpecDefaults } from '../core/persistent-volume/persistent-volume.js'
import { validateInlineVolume } from '../core/persistent-volume/persistent-volume-validation.js'
import { withChanged } from '../core/pod-spec/visit-containers.js'
import { ageColumn, flagColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { validateDriverName } from '../resource/resource-claims.js'
import { statusSubresource } from '../status-subresource.js'
import { isOverSize, maxParametersBytes } from './storage-class.js'
import {
  volumeAttachment as schema,
  type VolumeAttachment,
  type VolumeAttachmentSource,
  type VolumeError,
  volumeAttachmentSpec,
} from './v1.schema.js'

const maxMessageBytes = 1024
const oneSourceProblem = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'

function validateAttachment({ spec = {}, status = {} }: VolumeAttachment, context: RuleContext): readonly FieldError[] {
  return joined(
    (spec.attacher ?? '') === '' ? [required('spec.attacher')] : noErrors,
    validateSource(spec.source ?? {}, 'spec.source', context),
    checkText(spec.nodeName ?? '', 'spec.nodeName', dnsSubdomain),
    isOverSize(status.attachmentMetadata ?? {}) ? [tooLong('status.attachmentMetadata', maxParametersBytes)] : noErrors,
    checkOptional(status.attachError, 'status.attachError', validateVolumeError),
    checkOptional(status.detachError, 'status.detachError', validateVolumeError),
  )
}

/** Rules for new attachments, stricter than for stored ones. */
function validateNewAttachment(attachment: VolumeAttachment, context: RuleContext): readonly FieldError[] {
  const { attacher = '', source } = attachment.spec ?? {}
  return joined(
    validateAttachment(attachment, context),
    validateDriverName(attacher, 'spec.attacher'),
    checkOptional(source?.persistentVolumeName, 'spec.source.persistentVolumeName', (name, at) => checkText(name, at, dnsSubdomain)),
  )
}

function validateSource(source: VolumeAttachmentSource, field: string, context: RuleContext): readonly FieldError[] {
  const { inlineVolumeSpec, persistentVolumeName } = source
  if (inlineVolumeSpec !== undefined && persistentVolumeName !== undefined) return [forbidden(field, oneSourceProblem)]
  if (inlineVolumeSpec !== undefined) {
    return validateInlineVolume(inlineVolumeSpec, { field: `${field}.inlineVolumeSpec`, volumeName: '', context })
  }
  if (persistentVolumeName === undefined) return [required(field, oneSourceProblem)]
  return persistentVolumeName === '' ? [required(`${field}.persistentVolumeName`, 'must specify non empty persistentVolumeName')] : noErrors
}

/** The message names another limit than the check, as in kube-apiserver. */
const validateVolumeError = ({ message = '' }: VolumeError, field: string): readonly FieldError[] =>
  byteLength(message) > maxMessageBytes ? [tooLong(`${field}.message`, maxParametersBytes)] : noErrors

const validateAttachmentChange = (next: VolumeAttachment, old: VolumeAttachment): readonly FieldError[] =>
  sameBySchema(volumeAttachmentSpec, next.spec ?? {}, old.spec ?? {}) ? noErrors : [invalid('spec', next.spec ?? {}, 'field is immutable')]

const defaults = (attachment: VolumeAttachment): VolumeAttachment =>
  withChanged(attachment, 'spec', (spec) =>
    withChanged(spec, 'source', (source) => withChanged(source, 'inlineVolumeSpec', withVolumeSpecDefaults)),
  )

const withoutGatedFields = (attachment: VolumeAttachment, context: RuleContext): VolumeAttachment =>
  withChanged(attachment, 'spec', (spec) =>
    withChanged(spec, 'source', (source) =>
      withChanged(source, 'inlineVolumeSpec', (inline) => withoutGatedSecret(inline, undefined, context)),
    ),
  )

function prepareStatus(next: VolumeAttachment, old: VolumeAttachment): VolumeAttachment {
  const { labels, annotations, finalizers, ownerReferences } = old.metadata ?? {}
  return { ...withMetadata(next, { labels, annotations, finalizers, ownerReferences }), spec: old.spec ?? {} }
}

export const volumeAttachment = defineResource<VolumeAttachment>({
  group: { stem: 'storage' },
  kind: 'VolumeAttachment',
  resource: 'volumeattachments',
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (attachment, context) => ({ ...withoutGatedFields(attachment, context), status: { attached: false } }),
  prepareUpdate: (next, old) => ({ ...next, status: old.status ?? { attached: false } }),
  validate: validateNewAttachment,
  // Errors are repeated, as in kube-apiserver.
  validateUpdate: (next, old, context) => {
    const errors = validateAttachment(next, context)
    return joined(errors, errors, validateAttachmentChange(next, old))
  },
  checks: { update: ['metadata', 'metadata', 'validateUpdate'] },
  versionRequiredOnUpdate: true,
  deleteReturnsObject: true,
  resetFields: ['status'],
  subresources: [
    statusSubresource<VolumeAttachment>({
      prepareUpdate: prepareStatus,
      validateUpdate: (next, _old, context) => validateAttachment(next, context),
      resetFields: ['metadata', 'spec'],
    }),
  ],
  table: tableOf<VolumeAttachment>(
    nameColumn,
    {
      column: { name: 'Attacher', type: 'string', format: 'name', description: 'Name of the attacher.' },
      cell: ({ spec }) => spec?.attacher ?? '',
    },
    textColumn('PV', 'Persistent volume.', ({ spec }) => spec?.source?.persistentVolumeName ?? ''),
    textColumn('Node', 'Node.', ({ spec }) => spec?.nodeName ?? ''),
    flagColumn('Attached', 'Whether the volume is attached.', ({ status }) => status?.attached ?? false),
    ageColumn,
  ),
})
