CREATE TABLE "postrider"."api_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"name" text NOT NULL,
	"prefix" text NOT NULL,
	"hash" text NOT NULL,
	"scopes" text[] NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	CONSTRAINT "api_keys_hash" UNIQUE("hash"),
	CONSTRAINT "api_keys_scopes" CHECK (cardinality(scopes) > 0)
);

CREATE TABLE "postrider"."attachments" (
	"message_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"filename" text NOT NULL,
	"content_type" text NOT NULL,
	"content_id" text,
	"content" "bytea" NOT NULL,
	CONSTRAINT "attachments_message_id_position_pk" PRIMARY KEY("message_id","position")
);

CREATE TABLE "postrider"."attempts" (
	"action_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"outcome" text NOT NULL,
	"failure" text,
	"phase" text NOT NULL,
	"code" integer,
	"enhanced_code" text,
	"reply" text NOT NULL,
	"remote_host" text,
	"duration_ms" integer NOT NULL,
	"worker" text NOT NULL,
	"inline" boolean NOT NULL,
	CONSTRAINT "attempts_action_id_id_pk" PRIMARY KEY("action_id","id"),
	CONSTRAINT "attempts_outcome" CHECK (outcome in ('accepted', 'deferred', 'rejected', 'uncertain')),
	CONSTRAINT "attempts_failure" CHECK ((failure is null) = (outcome = 'accepted')),
	CONSTRAINT "attempts_failure_class" CHECK (failure in ('transient', 'throttled', 'recipient', 'sender', 'message', 'undecidable')),
	CONSTRAINT "attempts_phase" CHECK (phase in ('connect', 'greeting', 'tls', 'auth', 'mail', 'rcpt', 'data', 'body', 'reply'))
);

CREATE TABLE "postrider"."captured_emails" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"email_id" uuid NOT NULL,
	"return_path" text NOT NULL,
	"recipient" text NOT NULL,
	"raw" "bytea" NOT NULL,
	"captured_at" timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE "postrider"."events" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"email_id" uuid,
	"type" text NOT NULL,
	"payload" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE "postrider"."idempotency_keys" (
	"workspace_id" uuid NOT NULL,
	"key" text NOT NULL,
	"fingerprint" text NOT NULL,
	"email_ids" uuid[] NOT NULL,
	"answer" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotency_keys_workspace_id_key_pk" PRIMARY KEY("workspace_id","key"),
	CONSTRAINT "idempotency_keys_key" CHECK (length(key) between 1 and 256)
);

CREATE TABLE "postrider"."messages" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"sender_id" uuid NOT NULL,
	"message_id" text NOT NULL,
	"date" timestamp with time zone NOT NULL,
	"addressing" jsonb NOT NULL,
	"recipients" text[] NOT NULL,
	"subject" text NOT NULL,
	"html" text,
	"text" text,
	"headers" jsonb NOT NULL,
	"tags" jsonb NOT NULL,
	"calendar" jsonb,
	"attachment_count" integer DEFAULT 0 NOT NULL,
	"inline" boolean DEFAULT false NOT NULL,
	"on_uncertain" text NOT NULL,
	"scheduled_at" timestamp with time zone,
	"expires_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "messages_recipients" CHECK (cardinality(recipients) > 0),
	CONSTRAINT "messages_on_uncertain" CHECK (on_uncertain in ('hold', 'resend'))
);

CREATE TABLE "postrider"."senders" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"name" text,
	"address" text NOT NULL,
	"folded_address" text NOT NULL,
	"provider" text NOT NULL,
	"credentials" text,
	"follows_settings" boolean DEFAULT false NOT NULL,
	"is_default" boolean DEFAULT false NOT NULL,
	"paused_at" timestamp with time zone,
	"paused_code" text,
	"paused_reason" text,
	"throttles" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "senders_settings" CHECK (not follows_settings or credentials is null),
	CONSTRAINT "senders_provider" CHECK (provider in ('smtp', 'capture')),
	CONSTRAINT "senders_paused" CHECK ((paused_at is null) = (paused_reason is null)),
	CONSTRAINT "senders_throttles" CHECK (throttles >= 0)
);

CREATE TABLE "postrider"."suppressions" (
	"workspace_id" uuid NOT NULL,
	"address" text NOT NULL,
	"scope" text NOT NULL,
	"reason" text NOT NULL,
	"detail" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "suppressions_workspace_id_address_scope_pk" PRIMARY KEY("workspace_id","address","scope"),
	CONSTRAINT "suppressions_scope" CHECK (scope in ('all', 'marketing')),
	CONSTRAINT "suppressions_reason" CHECK (reason in ('hard_bounce', 'complaint', 'unsubscribe', 'manual'))
);

CREATE TABLE "postrider"."workspaces" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "workspaces_name" UNIQUE("name")
);

ALTER TABLE "postrider"."lanes" ADD COLUMN "held_until" timestamp with time zone;
ALTER TABLE "postrider"."scheduled_actions" ADD COLUMN "message_id" uuid;
ALTER TABLE "postrider"."scheduled_actions" ADD COLUMN "on_uncertain" text;
ALTER TABLE "postrider"."api_keys" ADD CONSTRAINT "api_keys_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "postrider"."workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "postrider"."attachments" ADD CONSTRAINT "attachments_message_id_messages_id_fk" FOREIGN KEY ("message_id") REFERENCES "postrider"."messages"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "postrider"."senders" ADD CONSTRAINT "senders_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "postrider"."workspaces"("id") ON DELETE no action ON UPDATE no action;
CREATE INDEX "api_keys_workspace" ON "postrider"."api_keys" USING btree ("workspace_id","id");
CREATE INDEX "captured_emails_newest" ON "postrider"."captured_emails" USING btree ("workspace_id","id");
CREATE INDEX "events_email" ON "postrider"."events" USING btree ("email_id","id");
CREATE INDEX "events_newest" ON "postrider"."events" USING btree ("workspace_id","id");
CREATE INDEX "idempotency_keys_created" ON "postrider"."idempotency_keys" USING btree ("created_at");
CREATE INDEX "messages_newest" ON "postrider"."messages" USING btree ("workspace_id","id");
CREATE INDEX "messages_recipients" ON "postrider"."messages" USING gin ("recipients");
CREATE UNIQUE INDEX "senders_address" ON "postrider"."senders" USING btree ("workspace_id","folded_address");
CREATE UNIQUE INDEX "senders_default" ON "postrider"."senders" USING btree ("workspace_id") WHERE is_default;
CREATE INDEX "scheduled_actions_message" ON "postrider"."scheduled_actions" USING btree ("message_id") WHERE message_id is not null;
CREATE INDEX "scheduled_actions_resend" ON "postrider"."scheduled_actions" USING btree ("id") WHERE needs_attention and on_uncertain = 'resend';
ALTER TABLE "postrider"."scheduled_actions" ADD CONSTRAINT "scheduled_actions_on_uncertain" CHECK (on_uncertain = 'resend');

-- The workspace that exists without anybody making one.
INSERT INTO "postrider"."workspaces" ("id", "name") VALUES ('00000000-0000-7000-8000-000000000000', 'default');
