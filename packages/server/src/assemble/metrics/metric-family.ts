// Metric families from rows of label values.

import type { Family, Row } from '../../http/metrics/prometheus-exposition.js'

/** Label values, then the value of the metric. */
export type Cells = readonly [...labels: string[], value: Row['value']]

/** `labels`: names, separated by spaces, in the order of the cells. */
export const family = (type: Family['type'], name: string, help: string, labels: string, rows: Iterable<Cells>): Family => ({
  name,
  type,
  help,
  labels: labels === '' ? [] : labels.split(' '),
  rows: Array.from(rows, (cells) => ({ labels: cells.slice(0, -1) as string[], value: cells.at(-1) as Row['value'] })),
})

export const single = (type: Family['type'], name: string, help: string, value: Row['value']): Family =>
  family(type, name, help, '', [[value]])
