// The versions of an object that this page saw, with the difference of each step.

import { useState } from 'preact/hooks'
import { timeText } from '../ui/format.js'
import { DiffView } from './diff-view.js'
import type { ObjectContext, ObjectVersion } from './object-context.js'

export function HistoryTab({ versions }: ObjectContext) {
  const steps = versions.slice(1).map((version, i) => ({ version, before: versions[i] }))
  if (steps.length === 0) return <p class="empty">Nothing changed since this page was opened.</p>
  return (
    <div>
      {steps.reverse().map(({ version, before }, i) => (
        <HistoryStep key={`${version.resourceVersion} ${version.isDeleted}`} version={version} before={before} isLatest={i === 0} />
      ))}
    </div>
  )
}

interface HistoryStepProps {
  readonly version: ObjectVersion
  readonly before: ObjectVersion | undefined
  readonly isLatest: boolean
}

const noLines: readonly string[] = []

/** Computes the difference while the step is open. A step that was the latest one stays open. */
function HistoryStep({ version: { atMs, resourceVersion, isDeleted, text }, before, isLatest }: HistoryStepProps) {
  const [isOpen, setIsOpen] = useState(isLatest)
  return (
    <details class="step" open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        {timeText(atMs)} · version {resourceVersion}
        {isDeleted && ' · deleted'}
      </summary>
      {isOpen && <DiffView before={before?.text ?? noLines} after={text} label={`Changes of version ${resourceVersion}`} />}
    </details>
  )
}
