// The types of events/v1 as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.

import * as meta from '../../api/meta.schema.js'
import * as core from '../../resources/core/v1.schema.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'

const struct = s.structsOf('api.events.v1')

export const eventSeries = struct('EventSeries', {
  count: s.field(1, s.int32, { always: true, required: true, default: 0 }),
  lastObservedTime: s.field(2, s.microTime, { always: true, required: true, default: {} }),
})
export type EventSeries = Infer<typeof eventSeries>

export const event = struct(
  'Event',
  {
    metadata: s.field(1, meta.objectMeta, { always: true, default: {} }),
    eventTime: s.field(2, s.microTime, { always: true, required: true, default: {} }),
    series: s.field(3, eventSeries, { pointer: true }),
    reportingController: s.field(4, s.string),
    reportingInstance: s.field(5, s.string),
    action: s.field(6, s.string),
    reason: s.field(7, s.string),
    regarding: s.field(8, core.objectReference, { default: {} }),
    related: s.field(9, core.objectReference, { pointer: true }),
    note: s.field(10, s.string),
    type: s.field(11, s.string),
    deprecatedSource: s.field(12, core.eventSource, { default: {} }),
    deprecatedFirstTimestamp: s.field(13, s.time, { default: {} }),
    deprecatedLastTimestamp: s.field(14, s.time, { default: {} }),
    deprecatedCount: s.field(15, s.int32),
  },
  { typeMeta: true },
)
export type Event = Infer<typeof event>
