// The rules of attachments: one volume, a node, and reports within bounds. The wish itself never changes.

import type { RuleContext } from '../../api/definition.js'
import { type FieldError, forbidden, invalid, required, tooLong } from '../../api/field-error.js'
import { byteLength } from '../../api/validation/byte-length.js'
import { checkPart, joined } from '../../api/validation/collect.js'
import { checkText, noErrors } from '../../api/validation/fields.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { dnsSubdomain } from '../../api/validation/text-rules.js'
import { validateInlineVolume } from '../core/persistent-volume-rules.js'
import { validateDriverName } from '../resource/driver-name.js'
import { isOverSize, parametersLimitBytes } from './parameters.js'
import { type VolumeAttachment, type VolumeAttachmentSource, type VolumeError, volumeAttachmentSpec } from './v1.schema.js'

const messageLimitBytes = 1024
const oneSource = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'

export function validateAttachment({ spec = {}, status = {} }: VolumeAttachment, context: RuleContext): readonly FieldError[] {
  return joined(
    (spec.attacher ?? '') === '' ? [required('spec.attacher')] : noErrors,
    validateSource(spec.source ?? {}, 'spec.source', context),
    checkText(spec.nodeName ?? '', 'spec.nodeName', dnsSubdomain),
    isOverSize(status.attachmentMetadata ?? {}) ? [tooLong('status.attachmentMetadata', parametersLimitBytes)] : noErrors,
    checkPart(status.attachError, 'status.attachError', validateReport),
    checkPart(status.detachError, 'status.detachError', validateReport),
  )
}

/** New attachments have to satisfy more than old ones, which may have been made before anybody asked. */
export function validateNewAttachment(attachment: VolumeAttachment, context: RuleContext): readonly FieldError[] {
  const { attacher = '', source } = attachment.spec ?? {}
  return joined(
    validateAttachment(attachment, context),
    validateDriverName(attacher, 'spec.attacher'),
    checkPart(source?.persistentVolumeName, 'spec.source.persistentVolumeName', (name, at) => checkText(name, at, dnsSubdomain)),
  )
}

function validateSource(source: VolumeAttachmentSource, field: string, context: RuleContext): readonly FieldError[] {
  const { inlineVolumeSpec, persistentVolumeName } = source
  if (inlineVolumeSpec !== undefined && persistentVolumeName !== undefined) return [forbidden(field, oneSource)]
  if (inlineVolumeSpec !== undefined) {
    return validateInlineVolume(inlineVolumeSpec, { field: `${field}.inlineVolumeSpec`, volumeName: '', context })
  }
  if (persistentVolumeName === undefined) return [required(field, oneSource)]
  return persistentVolumeName === '' ? [required(`${field}.persistentVolumeName`, 'must specify non empty persistentVolumeName')] : noErrors
}

/** The bound that is told is another one than the one that holds, as clients know it. */
const validateReport = ({ message = '' }: VolumeError, field: string): readonly FieldError[] =>
  byteLength(message) > messageLimitBytes ? [tooLong(`${field}.message`, parametersLimitBytes)] : noErrors

export const validateAttachmentChange = (next: VolumeAttachment, old: VolumeAttachment): readonly FieldError[] =>
  sameBySchema(volumeAttachmentSpec, next.spec ?? {}, old.spec ?? {}) ? noErrors : [invalid('spec', next.spec ?? {}, 'field is immutable')]
