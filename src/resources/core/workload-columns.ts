// Columns and cells that tables of workloads share: their counts, containers and images.

import type { Column } from '../../api/definition.js'
import { textColumn } from '../../api/table-columns.js'
import type { PodTemplateSpec } from './v1.schema.js'

/** A column of whole numbers. */
export const countColumn = (name: string, description: string): Column => ({ name, type: 'integer', description })

export const containerColumns: readonly Column[] = [
  textColumn('Containers', 'Names of the containers in the template.', 1),
  textColumn('Images', 'Images of the containers in the template.', 1),
]
export const selectorColumn: Column = textColumn('Selector', 'Which pods belong to it, by their labels.', 1)

/** Names and images of a template's containers: the cells of two columns. */
export function containerCells(template: PodTemplateSpec | undefined): readonly string[] {
  const containers = template?.spec?.containers ?? []
  return [containers.map(({ name = '' }) => name).join(','), containers.map(({ image = '' }) => image).join(',')]
}
