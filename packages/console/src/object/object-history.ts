// The versions of an object that this page saw, with the difference of each step.

import { element, replaceChildren } from '../dom/element.js'
import { timeText } from '../ui/format.js'
import { diffView } from './diff-view.js'
import type { ObjectContext, ObjectVersion } from './object-context.js'

export function showHistory(host: HTMLElement, { versions }: Pick<ObjectContext, 'versions'>): void {
  const steps = versions.slice(1).map((version, i) => ({ version, before: versions[i] }))
  if (steps.length === 0) {
    replaceChildren(host, element('p', { class: 'empty' }, 'Nothing changed since this page was opened.'))
    return
  }
  replaceChildren(host, ...steps.reverse().map((step, i) => stepElement(step, i === 0)))
}

interface Step {
  readonly version: ObjectVersion
  readonly before: ObjectVersion | undefined
}

/** The elements of the steps that were shown, so that they stay open. */
const shownSteps = new WeakMap<ObjectVersion, HTMLDetailsElement>()

/** Computes the difference when the step is first opened. */
function stepElement({ version, before }: Step, isOpen: boolean): HTMLDetailsElement {
  const shown = shownSteps.get(version)
  if (shown !== undefined) return shown
  const { atMs, resourceVersion, isDeleted, text } = version
  const details = element(
    'details',
    { class: 'step' },
    element('summary', {}, `${timeText(atMs)} · version ${resourceVersion}${isDeleted ? ' · deleted' : ''}`),
  )
  details.addEventListener('toggle', () => {
    if (details.open && details.children.length === 1)
      details.append(diffView(before?.text ?? [], text, `Changes of version ${resourceVersion}`))
  })
  details.open = isOpen
  shownSteps.set(version, details)
  return details
}
