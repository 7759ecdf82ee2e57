// Labels and selectors as cells of tables show them.

import { fromSelectorObject, type LabelSelectorObject } from '../../api/label-selector.js'
import { sortTexts } from '../../base/text-order.js'

const none = '<none>'

/** `app=web,tier=front`, in the order of the keys. */
export const describeLabels = (labels: { readonly [key: string]: string } = {}): string =>
  sortTexts(Object.keys(labels))
    .map((key) => `${key}=${labels[key]}`)
    .join(',') || none

export const describeSelector = (selector: LabelSelectorObject | undefined): string => fromSelectorObject(selector).text || none
