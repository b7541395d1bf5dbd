CREATE TABLE "postrider"."campaign_lists" (
	"campaign_id" uuid NOT NULL,
	"list_id" uuid NOT NULL,
	"last_cursor" uuid,
	"finished_at" timestamp with time zone,
	CONSTRAINT "campaign_lists_campaign_id_list_id_pk" PRIMARY KEY("campaign_id","list_id")
);

CREATE TABLE "postrider"."campaign_senders" (
	"campaign_id" uuid NOT NULL,
	"sender_id" uuid NOT NULL,
	"from_name" text,
	"from_address" text,
	CONSTRAINT "campaign_senders_campaign_id_sender_id_pk" PRIMARY KEY("campaign_id","sender_id")
);

CREATE TABLE "postrider"."campaign_steps" (
	"campaign_id" uuid NOT NULL,
	"node_id" text NOT NULL,
	"step_number" integer NOT NULL,
	"template_id" uuid NOT NULL,
	"template_version" integer NOT NULL,
	"subject" text,
	"reply" boolean NOT NULL,
	CONSTRAINT "campaign_steps_campaign_id_node_id_pk" PRIMARY KEY("campaign_id","node_id")
);

CREATE TABLE "postrider"."enrollments" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"campaign_id" uuid NOT NULL,
	"sequence_id" uuid NOT NULL,
	"contact_id" uuid NOT NULL,
	"sender_id" uuid NOT NULL,
	"state" text DEFAULT 'active' NOT NULL,
	"node_id" text,
	"arrived" boolean DEFAULT false NOT NULL,
	"visit" integer DEFAULT 0 NOT NULL,
	"moved_at" timestamp with time zone NOT NULL,
	"reason_code" text,
	"reason" text,
	"thread_id" uuid,
	"thread_subject" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"finished_at" timestamp with time zone,
	CONSTRAINT "enrollments_state" CHECK (state in ('active', 'paused', 'completed', 'stopped')),
	CONSTRAINT "enrollments_finished" CHECK ((state in ('completed', 'stopped')) = (finished_at is not null)),
	CONSTRAINT "enrollments_stopped" CHECK ((state = 'stopped') = (reason_code is not null)),
	CONSTRAINT "enrollments_visit" CHECK (visit >= 0)
);

CREATE TABLE "postrider"."sequence_versions" (
	"sequence_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"graph" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sequence_versions_sequence_id_version_pk" PRIMARY KEY("sequence_id","version"),
	CONSTRAINT "sequence_versions_version" CHECK (version > 0)
);

CREATE TABLE "postrider"."sequences" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"name" text NOT NULL,
	"version" integer NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE "postrider"."campaigns" DROP CONSTRAINT "campaigns_frozen";
ALTER TABLE "postrider"."campaigns" DROP CONSTRAINT "campaigns_counts";
ALTER TABLE "postrider"."campaigns" ALTER COLUMN "template_id" DROP NOT NULL;
ALTER TABLE "postrider"."campaigns" ADD COLUMN "sequence_id" uuid;
ALTER TABLE "postrider"."campaigns" ADD COLUMN "sequence_version" integer;
ALTER TABLE "postrider"."campaigns" ADD COLUMN "enrolled_before" integer DEFAULT 0 NOT NULL;
ALTER TABLE "postrider"."events" ADD COLUMN "contact_id" uuid;
ALTER TABLE "postrider"."events" ADD COLUMN "external_id" text;
ALTER TABLE "postrider"."scheduled_actions" ADD COLUMN "slot_at" timestamp with time zone;
ALTER TABLE "postrider"."sender_days" ADD COLUMN "slots" integer[] DEFAULT '{}' NOT NULL;
ALTER TABLE "postrider"."senders" ADD COLUMN "turn_at" timestamp with time zone;
ALTER TABLE "postrider"."campaign_lists" ADD CONSTRAINT "campaign_lists_campaign_id_campaigns_id_fk" FOREIGN KEY ("campaign_id") REFERENCES "postrider"."campaigns"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "postrider"."campaign_lists" ADD CONSTRAINT "campaign_lists_list_id_lists_id_fk" FOREIGN KEY ("list_id") REFERENCES "postrider"."lists"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "postrider"."campaign_senders" ADD CONSTRAINT "campaign_senders_campaign_id_campaigns_id_fk" FOREIGN KEY ("campaign_id") REFERENCES "postrider"."campaigns"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "postrider"."campaign_senders" ADD CONSTRAINT "campaign_senders_sender_id_senders_id_fk" FOREIGN KEY ("sender_id") REFERENCES "postrider"."senders"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "postrider"."campaign_steps" ADD CONSTRAINT "campaign_steps_campaign_id_campaigns_id_fk" FOREIGN KEY ("campaign_id") REFERENCES "postrider"."campaigns"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "postrider"."campaign_steps" ADD CONSTRAINT "campaign_steps_template_version" FOREIGN KEY ("template_id","template_version") REFERENCES "postrider"."template_versions"("template_id","version") ON DELETE no action ON UPDATE no action;
ALTER TABLE "postrider"."enrollments" ADD CONSTRAINT "enrollments_campaign_id_campaigns_id_fk" FOREIGN KEY ("campaign_id") REFERENCES "postrider"."campaigns"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "postrider"."sequence_versions" ADD CONSTRAINT "sequence_versions_sequence_id_sequences_id_fk" FOREIGN KEY ("sequence_id") REFERENCES "postrider"."sequences"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "postrider"."sequences" ADD CONSTRAINT "sequences_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "postrider"."workspaces"("id") ON DELETE no action ON UPDATE no action;
CREATE INDEX "campaign_senders_sender" ON "postrider"."campaign_senders" USING btree ("sender_id");
CREATE UNIQUE INDEX "enrollments_contact" ON "postrider"."enrollments" USING btree ("contact_id","sequence_id");
CREATE INDEX "enrollments_campaign" ON "postrider"."enrollments" USING btree ("campaign_id","id");
CREATE INDEX "enrollments_open" ON "postrider"."enrollments" USING btree ("campaign_id") WHERE finished_at is null;
CREATE INDEX "enrollments_newest" ON "postrider"."enrollments" USING btree ("workspace_id","id");
CREATE UNIQUE INDEX "sequences_name" ON "postrider"."sequences" USING btree ("workspace_id","name");
CREATE INDEX "sequences_newest" ON "postrider"."sequences" USING btree ("workspace_id","id");
ALTER TABLE "postrider"."campaigns" ADD CONSTRAINT "campaigns_sequence_version" FOREIGN KEY ("sequence_id","sequence_version") REFERENCES "postrider"."sequence_versions"("sequence_id","version") ON DELETE no action ON UPDATE no action;
CREATE INDEX "events_contact" ON "postrider"."events" USING btree ("contact_id","id") WHERE contact_id is not null;
CREATE UNIQUE INDEX "events_external" ON "postrider"."events" USING btree ("workspace_id","external_id") WHERE external_id is not null;
ALTER TABLE "postrider"."sender_days" DROP COLUMN "last_slot_at";
ALTER TABLE "postrider"."campaigns" ADD CONSTRAINT "campaigns_kind" CHECK ((template_id is null) <> (sequence_id is null));
ALTER TABLE "postrider"."campaigns" ADD CONSTRAINT "campaigns_frozen" CHECK (status = 'draft' or ((template_version is not null or sequence_version is not null) and from_address is not null));
ALTER TABLE "postrider"."campaigns" ADD CONSTRAINT "campaigns_counts" CHECK (planned >= 0 and unsubscribed >= 0 and suppressed >= 0 and enrolled_before >= 0);