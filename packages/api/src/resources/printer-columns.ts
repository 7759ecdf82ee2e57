// Printer columns with their cell functions: name, age, text, integer and boolean columns.

import * as columns from '../api/definition/printer-columns.js'
import type { Column, ResourceDefinition } from '../api/definition/resource-definition.js'
import { ageOf } from '../api/human-duration.js'
import type { ApiObject } from '../api/object.js'

type Table<T extends ApiObject> = NonNullable<ResourceDefinition<T>['table']>
type Cell<T extends ApiObject> = (...args: Parameters<Table<T>['cells']>) => unknown

export interface CellColumn<T extends ApiObject> {
  readonly column: Column
  readonly cell: Cell<T>
}

export const nameColumn: CellColumn<ApiObject> = { column: columns.nameColumn, cell: ({ metadata }) => metadata?.name ?? '' }
export const ageColumn: CellColumn<ApiObject> = {
  column: columns.ageColumn,
  cell: ({ metadata }, { now }) => ageOf(metadata?.creationTimestamp, now),
}

/** Priority 1: shown with `-o wide` only. */
export const textColumn = <T extends ApiObject>(name: string, description: string, cell: Cell<T>, priority = 0): CellColumn<T> => ({
  column: columns.textColumn(name, description, priority),
  cell,
})
export const countColumn = <T extends ApiObject>(name: string, description: string, cell: Cell<T>): CellColumn<T> => ({
  column: { name, type: 'integer', description },
  cell,
})
export const flagColumn = <T extends ApiObject>(name: string, description: string, cell: Cell<T>): CellColumn<T> => ({
  column: { name, type: 'boolean', description },
  cell,
})

export const tableOf = <T extends ApiObject>(...list: readonly CellColumn<T>[]): Pick<Table<T>, 'columns' | 'cells'> => ({
  columns: list.map(({ column }) => column),
  cells: (object, context) => list.map(({ cell }) => cell(object, context)),
})
