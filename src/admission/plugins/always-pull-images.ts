// Images are pulled each time, so that nobody runs one that is on the node already without the right to pull it.

import { forbidden } from '../../api/api-error.js'
import { notSupported } from '../../api/field-error.js'
import { mapContainers, visitContainers } from '../../resources/core/pod-spec/all-containers.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import { changedPod, type Pod, refusedName, withSpec } from '../pods.js'

const always = 'Always'

export const alwaysPullImages: Plugin = {
  name: 'AlwaysPullImages',
  collections: ['pods'],
  mutate: (request) => {
    const pod = podWithNewImages(request)
    if (pod?.spec === undefined) return undefined
    return withSpec(
      pod,
      mapContainers(pod.spec, (container) => ({ ...container, imagePullPolicy: always })),
    )
  },
  validate: (request) => {
    const pod = podWithNewImages(request)
    const problems: string[] = []
    visitContainers(pod?.spec ?? {}, 'spec', ({ imagePullPolicy = '' }, field) => {
      if (imagePullPolicy === always) return
      const { field: place, message } = notSupported(`${field}.imagePullPolicy`, imagePullPolicy, [always])
      problems.push(`${place}: ${message}`)
    })
    if (problems.length > 0)
      throw forbidden(request.resource.subject, refusedName(request), problems.length === 1 ? problems.join() : `[${problems.join(', ')}]`)
  },
}

/** What runs already is left alone. */
function podWithNewImages(request: AdmissionRequest): Pod | undefined {
  const pod = changedPod(request)
  if (pod === undefined || request.operation === 'CREATE') return pod
  const before = new Set(imagesOf(request.old as Pod | undefined))
  return imagesOf(pod).every((image) => before.has(image)) ? undefined : pod
}

function imagesOf(pod: Pod | undefined): readonly string[] {
  const images: string[] = []
  visitContainers(pod?.spec ?? {}, '', ({ image = '' }) => images.push(image))
  return images
}
