// Collections of kinds that have more than the common verbs.

import { Collection, type CollectionSettings } from '../collection.js'
import type { ApiObject } from '../objects.js'
import type { WriteOptions } from '../query.js'
import type { CertificateSigningRequest, Namespace, Scale, ServiceAccount, TokenRequest } from './types.js'

export class StatusCollection<T extends ApiObject> extends Collection<T> {
  /** The same objects, of which only the status is written. */
  get status(): Collection<T> {
    return this.subresource('status')
  }
}

export class ScaledCollection<T extends ApiObject> extends StatusCollection<T> {
  /** How many there shall be. */
  get scale(): Collection<Scale> {
    return this.subresource('scale')
  }
}

export class NamespaceCollection extends StatusCollection<Namespace> {
  get finalize(): Collection<Namespace> {
    return this.subresource('finalize')
  }
}

export class CertificateRequestCollection extends StatusCollection<CertificateSigningRequest> {
  get approval(): Collection<CertificateSigningRequest> {
    return this.subresource('approval')
  }
}

export class ServiceAccountCollection extends Collection<ServiceAccount> {
  /** A token for the service account, with an end. */
  createToken(name: string, spec: NonNullable<TokenRequest['spec']> = {}, options: WriteOptions = {}): Promise<TokenRequest> {
    return this.subresource('token').createFor<TokenRequest>(name, { spec }, options)
  }
}

/** Questions, which are answered and not kept. */
export class ReviewCollection<T extends ApiObject> {
  private readonly collection: Collection<T>

  constructor(settings: CollectionSettings) {
    this.collection = new Collection(settings)
  }

  create(review: T, options: WriteOptions = {}): Promise<T> {
    return this.collection.create(review, options)
  }
}
