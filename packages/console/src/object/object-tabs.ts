// The tabs of an object's page, in order.

import { editTab } from '../change/edit-tab.js'
import { element } from '../dom/element.js'
import type { ObjectTab } from './object-context.js'
import { showHistory } from './object-history.js'
import { overviewTab } from './overview.js'
import { relatedTab } from './related.js'
import { yamlTab } from './yaml-tab.js'

const historyTab: ObjectTab = {
  id: 'history',
  title: 'History',
  show: (host, context) => {
    const body = element('div')
    host.append(body)
    showHistory(body, context)
    return (next) => showHistory(body, next)
  },
}

export const objectTabs: readonly ObjectTab[] = [yamlTab, overviewTab, editTab, relatedTab, historyTab]
